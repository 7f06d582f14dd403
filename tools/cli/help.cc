#include "tools/cli/help.h"

#include <utility>
#include <vector>

#include "tools/cli/human.h"

namespace anteroom::cli {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string Form(const Parameter& parameter) {
  std::string form{parameter.name};
  if (!parameter.value.empty()) form += " " + std::string(parameter.value);
  return form;
}

std::string Form(const Use& use) {
  const bool optional = use.need == Need::kOptional;
  std::string form = optional ? "[" : "";
  form += Form(*use.parameter);
  if (use.parameter->many) form += "…";
  return optional ? form + "]" : form;
}

std::string Indented(std::string_view lines) {
  std::string text = "  ";
  for (const char c : lines) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

std::string Everywhere() {
  Lines lines;
  for (const Parameter* parameter : {&kServer, &kCredentials, &kOutput, &kYes}) {
    lines.emplace_back(Form(*parameter), parameter->help);
  }
  return "\nEverywhere:\n" + Aligned(lines, 2) + "\n";
}

}  // namespace

std::string UsageLine(const Command& command) {
  std::string line = "anteroom " + std::string(command.name);
  for (const Use& use : command.uses) line += " " + Form(use);
  return line;
}

std::string CommandHelp(const Command& command) {
  std::string text = UsageLine(command) + "\n\n  " + std::string(command.summary) + "\n";
  if (!command.notes.empty()) text += "\n" + Indented(command.notes) + "\n";
  Lines lines;
  bool takes_visitor = false;
  for (const Use& use : command.uses) {
    lines.emplace_back(Form(*use.parameter), use.parameter->help);
    takes_visitor = takes_visitor || use.parameter == &kVisitor || use.parameter == &kVisitors ||
                    use.parameter == &kAdmitVisitor;
  }
  if (!lines.empty()) text += "\n" + Aligned(lines, 2) + "\n";
  if (takes_visitor) {
    text +=
        "\n  An id may be any bytes: \\x0a is the byte 10, \\\\ a backslash. After -- an argument "
        "may\n"
        "  begin with a dash.\n";
  }
  text += "\nFor example:\n" + Indented(command.example) + "\n";
  return text + Everywhere();
}

std::string Overview(std::string_view group) {
  std::string text =
      "anteroom [--server HOST:PORT|unix:PATH] [--credentials FILE] [--output text|json] COMMAND "
      "…\n\n";
  Lines lines;
  for (const Command& command : Commands()) {
    const bool shown = group.empty() || (command.name.starts_with(group) &&
                                         command.name.substr(group.size()).starts_with(' '));
    if (shown) lines.emplace_back(command.name, command.summary);
  }
  text += Aligned(lines, 2) + "\n" + Everywhere();
  text +=
      "\nFor example:\n"
      "  anteroom room create concert rate=50/s capacity=100\n"
      "  anteroom --server 10.0.0.5:7411 --credentials anna.credentials watch concert\n"
      "\n`anteroom COMMAND --help` tells more, with an example.\n"
      "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no daemon or connection lost.\n";
  return text;
}

}  // namespace anteroom::cli
