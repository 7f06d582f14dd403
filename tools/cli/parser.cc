#include "tools/cli/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <utility>

#include "protocol/limits.h"
#include "protocol/text.h"
#include "protocol/version.h"
#include "tools/cli/help.h"

namespace anteroom::cli {
namespace {

// Put in front of a word that CLI11 must not interpret, neither as an option nor as a [list].
constexpr char kShield = '\x01';

bool IsToken(std::string_view word) {
  return word.size() == protocol::kTokenChars && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

std::string Shielded(std::string_view word) {
  return kShield + std::string(word);
}

std::string_view Unshielded(std::string_view word) {
  if (word.starts_with(kShield)) word.remove_prefix(1);
  return word;
}

std::vector<std::string> Shield(const std::vector<std::string>& words) {
  std::vector<std::string> shielded;
  bool only_positional = false;
  for (const std::string& word : words) {
    if (only_positional || IsToken(word)) {
      shielded.push_back(Shielded(word));
    } else if (word == "--") {
      only_positional = true;
    } else if (!word.starts_with('-')) {
      // A word of letters is what CLI11 leaves alone; elsewhere it sees [lists], {} and %%.
      const bool plain = std::isalnum(static_cast<unsigned char>(word.empty() ? 0 : word[0])) != 0;
      shielded.push_back(plain ? word : Shielded(word));
    } else if (const size_t equals = word.find('='); equals != std::string::npos) {
      shielded.push_back(word.substr(0, equals + 1) +
                         Shielded(std::string_view(word).substr(equals + 1)));
    } else {
      shielded.push_back(word);
    }
  }
  return shielded;
}

// What stood on the line for each parameter: the values as text, or how often a flag.
struct Bound {
  const Use* use;
  std::vector<std::string> values;
  CLI::Option* option = nullptr;
};

using BoundList = std::deque<Bound>;

void Bind(const Use& use, CLI::App* app, BoundList* bound) {
  Bound& one = bound->emplace_back(Bound{&use, {}});
  const std::string name(use.parameter->name);
  if (use.parameter->flag()) {
    one.option = app->add_flag(name);
  } else {
    one.option = app->add_option(name, one.values);
    // Without the second a positional argument takes its neighbours' values too.
    one.option->expected(use.parameter->many ? -1 : 1)->allow_extra_args(use.parameter->many);
  }
}

std::string Said(const Parameter& parameter, const std::string& wrong) {
  return wrong.starts_with("is ") ? std::string(parameter.name) + " " + wrong : wrong;
}

// Hands over what was bound. Returns what is wrong.
std::string Take(const BoundList& bound, Arguments* arguments) {
  for (const Bound& one : bound) {
    const Parameter& parameter = *one.use->parameter;
    std::string wrong;
    if (parameter.flag()) {
      if (one.option->count() > 0) wrong = parameter.take({}, arguments);
    } else if (one.values.empty() && one.use->need == Need::kRequired) {
      return std::string(parameter.name) + " is missing";
    }
    for (size_t i = 0; i < one.values.size() && wrong.empty(); ++i) {
      wrong = parameter.take(Unshielded(one.values[i]), arguments);
    }
    if (!wrong.empty()) return Said(parameter, wrong);
  }
  return {};
}

std::string DidYouMean(std::string_view word, const std::vector<std::string_view>& names) {
  const std::string_view nearest = protocol::NearestName(word, names);
  return nearest.empty() ? "" : ", did you mean " + std::string(nearest) + "?";
}

// `group` is what stands before: empty, or `room`.
std::string UnknownCommand(std::string_view group, std::string_view word) {
  std::vector<std::string_view> names;
  std::vector<std::string> whole;
  for (const Command& command : Commands()) {
    std::string_view name = command.name;
    if (group.empty()) {
      names.push_back(name.substr(0, name.find(' ')));
      // Someone may have left out the first word: `create` for `room create`.
      const size_t space = name.find(' ');
      if (space != std::string_view::npos && name.substr(space + 1) == word) {
        return "there is no command \"" + std::string(word) + "\", did you mean " +
               std::string(name) + "?";
      }
    } else if (name.starts_with(group) && name.substr(group.size()).starts_with(' ')) {
      names.push_back(name.substr(group.size() + 1));
    }
  }
  const std::string before = group.empty() ? "" : std::string(group) + " ";
  std::string message =
      "there is no command \"" + before + protocol::EscapeId(word) + "\"" + DidYouMean(word, names);
  if (message.ends_with('?')) return message;
  return message + "; `anteroom --help` shows them all";
}

std::string Leftover(const Command& command, std::string_view word) {
  const std::string shown = protocol::EscapeId(Unshielded(word));
  if (!word.starts_with('-')) {
    return "\"" + shown + "\" is one argument too many: " + UsageLine(command);
  }
  std::vector<std::string_view> names = {"--help", "--version"};
  for (const Parameter* parameter : {&kServer, &kCredentials, &kOutput, &kYes}) {
    names.push_back(parameter->name);
  }
  for (const Use& use : command.uses) {
    if (!use.parameter->positional()) names.push_back(use.parameter->name);
  }
  const std::string_view name = word.substr(0, word.find('='));
  const std::string meant = DidYouMean(name, names);
  if (!meant.empty()) return "there is no option " + protocol::EscapeId(name) + meant;
  return "there is no option " + shown + "; an argument that begins with a dash goes after --";
}

// The CLI11 application with all commands, and what it found.
class Line {
 public:
  Line() {
    app_.set_help_flag();
    app_.require_subcommand(0, 1);
    app_.allow_extras();
    app_.add_flag("-h,--help", help_);
    app_.add_flag("--version", version_);
    for (const Use& use : kEverywhere) Bind(use, &app_, &everywhere_);
    for (const Command& command : Commands()) Add(command);
  }

  Parsed Parse(std::vector<std::string> words, const Environment& environment) {
    Parsed parsed;
    std::reverse(words.begin(), words.end());
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      parsed.wrong = protocol::EscapeId(error.what());
      return parsed;
    }
    if (version_) {
      parsed.answer = "anteroom " + std::string(protocol::kVersion) + "\n";
      return parsed;
    }
    const std::vector<std::string> extras = app_.remaining(true);
    const std::string name = Found();
    parsed.command = FindCommand(name);
    if (parsed.command == nullptr) {
      AnswerWithoutCommand(name, extras, &parsed);
      return parsed;
    }
    if (help_) {
      parsed.answer = CommandHelp(*parsed.command);
      parsed.command = nullptr;
      return parsed;
    }
    std::string wrong = TakeAll(*parsed.command, extras, environment, &parsed.arguments);
    if (!wrong.empty()) {
      parsed.command = nullptr;
      parsed.wrong = std::move(wrong);
    }
    return parsed;
  }

 private:
  static const std::vector<Use> kEverywhere;

  void Add(const Command& command) {
    CLI::App* parent = &app_;
    std::string_view name = command.name;
    if (const size_t space = name.find(' '); space != std::string_view::npos) {
      CLI::App*& group = groups_[name.substr(0, space)];
      if (group == nullptr) {
        group = AddSubcommand(&app_, std::string(name.substr(0, space)));
        group->require_subcommand(0, 1);
      }
      parent = group;
      name.remove_prefix(space + 1);
    }
    CLI::App* app = AddSubcommand(parent, std::string(name));
    for (const Use& use : command.uses) Bind(use, app, &bound_[command.name]);
  }

  static CLI::App* AddSubcommand(CLI::App* parent, const std::string& name) {
    CLI::App* app = parent->add_subcommand(name);
    app->fallthrough();
    app->allow_extras();
    return app;
  }

  // The name of what was asked for, as far as it was said.
  std::string Found() const {
    std::string name;
    for (auto below = app_.get_subcommands(); !below.empty();
         below = below.front()->get_subcommands()) {
      name += (name.empty() ? "" : " ") + below.front()->get_name();
    }
    return name;
  }

  // Nothing was said, or only `room`, or something unknown.
  void AnswerWithoutCommand(const std::string& group, const std::vector<std::string>& extras,
                            Parsed* parsed) {
    const auto word = std::find_if(extras.begin(), extras.end(), [](const std::string& extra) {
      return !extra.starts_with('-');
    });
    if (help_ && word == extras.end()) {
      parsed->answer = Overview(group);
    } else if (word != extras.end()) {
      parsed->wrong = UnknownCommand(group, Unshielded(*word));
    } else if (!extras.empty()) {
      parsed->wrong = "there is no option " + protocol::EscapeId(extras.front());
    } else {
      parsed->wrong = (group.empty() ? "what is to be done?" : group + ": what is to be done?") +
                      std::string("\n\n") + Overview(group);
    }
  }

  std::string TakeAll(const Command& command, const std::vector<std::string>& extras,
                      const Environment& environment, Arguments* arguments) {
    if (!extras.empty()) return Leftover(command, extras.front());
    if (!environment.server.empty()) {
      const std::string wrong = kServer.take(environment.server, arguments);
      if (!wrong.empty()) return "ANTEROOM_SERVER: " + wrong;
    }
    arguments->credentials_path = environment.credentials_path;
    std::string wrong = Take(everywhere_, arguments);
    if (wrong.empty()) wrong = Take(bound_[command.name], arguments);
    if (wrong.ends_with(" is missing")) wrong += ": " + UsageLine(command);
    if (wrong.empty() && command.check != nullptr) wrong = command.check(*arguments);
    return wrong;
  }

  CLI::App app_;
  bool help_ = false;
  bool version_ = false;
  BoundList everywhere_;
  std::map<std::string_view, CLI::App*> groups_;
  std::map<std::string_view, BoundList> bound_;
};

const std::vector<Use> Line::kEverywhere = {{&kServer, Need::kOptional},
                                            {&kCredentials, Need::kOptional},
                                            {&kOutput, Need::kOptional},
                                            {&kYes, Need::kOptional}};

}  // namespace

Parsed Parse(const std::vector<std::string>& words, const Environment& environment) {
  // `anteroom help room set` is `anteroom room set --help`.
  std::vector<std::string> asked = words;
  if (!asked.empty() && asked.front() == "help") {
    asked.erase(asked.begin());
    asked.push_back("--help");
  }
  return Line().Parse(Shield(asked), environment);
}

}  // namespace anteroom::cli
