#include "server/base/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace anteroom {
namespace {

std::atomic<CheckFailureHandler> failure_handler{nullptr};

}  // namespace

CheckFailureHandler SetCheckFailureHandler(CheckFailureHandler handler) {
  return failure_handler.exchange(handler);
}

namespace internal {

void CheckFailed(const CheckSite& site) {
  CheckFailed(site, {});
}

void CheckFailed(const CheckSite& site, std::string_view detail) {
  std::string message(site.expression);
  message += " failed";
  if (!detail.empty()) {
    message += ": ";
    message += detail;
  }
  if (CheckFailureHandler handler = failure_handler.load()) {
    handler(site.file, site.line, message);
  } else {
    std::fprintf(stderr, "%s:%d: %s\n", site.file, site.line, message.c_str());
  }
  std::abort();
}

void CheckFailed(const CheckSite& site, const std::string& left, const char* relation,
                 const std::string& right) {
  CheckFailed(site, left + " " + relation + " " + right + " does not hold");
}

std::string DescribeText(std::string_view text) {
  constexpr std::size_t kShownBytesMax = 200;
  std::string shown = "\"";
  for (char character : text.substr(0, kShownBytesMax)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += character;
    } else {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", byte);
      shown += escaped;
    }
  }
  shown += text.size() > kShownBytesMax ? "\"..." : "\"";
  return shown;
}

std::string DescribePointer(const void* pointer) {
  char text[2 + 2 * sizeof pointer + 1];
  std::snprintf(text, sizeof text, "%p", pointer);
  return text;
}

}  // namespace internal
}  // namespace anteroom
