#include "tools/rehearse/log_line.h"

#include "protocol/limits.h"
#include "tools/rehearse/moment.h"

namespace anteroom::tools {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// `+0200`, `-0430`.
std::optional<int64_t> TakeZone(std::string_view* text) {
  std::string_view rest = *text;
  const bool behind = TakeLiteral(&rest, "-");
  if (!behind && !TakeLiteral(&rest, "+")) return std::nullopt;
  const auto hours = TakeDigits(&rest, 2);
  const auto minutes = TakeDigits(&rest, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  *text = rest;
  const int64_t zone_s = *hours * 3600 + *minutes * 60;
  return behind ? -zone_s : zone_s;
}

// ` 200 1839` and then the end or a space.
bool StartsWithStatusAndBytes(std::string_view text) {
  if (!TakeLiteral(&text, " ")) return false;
  if (!TakeDigits(&text, 3) && !TakeLiteral(&text, "-")) return false;
  if (!TakeLiteral(&text, " ")) return false;
  if (!TakeLiteral(&text, "-")) {
    if (text.empty() || !IsDigit(text.front())) return false;
    while (!text.empty() && IsDigit(text.front())) text.remove_prefix(1);
  }
  return text.empty() || text.front() == ' ' || text.front() == '\r';
}

// The quote that closes a request is the first one with a status and a size after it: the request
// itself may hold quotes.
bool StartsWithRequest(std::string_view text) {
  if (!TakeLiteral(&text, "\"")) return false;
  while (true) {
    const size_t quote = text.find('"');
    if (quote == std::string_view::npos) return false;
    text.remove_prefix(quote + 1);
    if (StartsWithStatusAndBytes(text)) return true;
  }
}

}  // namespace

std::optional<LogLine> ParseLogLine(std::string_view line) {
  LogLine parsed;
  const size_t host_bytes = line.find(' ');
  if (host_bytes == std::string_view::npos || host_bytes == 0 ||
      host_bytes > protocol::kVisitorIdBytesMax) {
    return std::nullopt;
  }
  parsed.host = line.substr(0, host_bytes);

  std::string_view rest = line.substr(host_bytes);
  while (true) {
    const size_t bracket = rest.find(" [");
    if (bracket == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(bracket + 2);
    std::string_view time = rest;
    const auto written_s = TakeLogTime(&time);
    if (!written_s || !TakeLiteral(&time, " ")) continue;
    const auto zone_s = TakeZone(&time);
    if (!zone_s || !TakeLiteral(&time, "] ")) continue;
    if (!StartsWithRequest(time)) return std::nullopt;
    parsed.written_s = *written_s;
    parsed.zone_s = *zone_s;
    return parsed;
  }
}

}  // namespace anteroom::tools
