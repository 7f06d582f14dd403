// One line of an access log in Common Log Format (NCSA httpd) or Combined Log Format (Apache):
//
//   host ident user [30/Jun/1998:20:15:30 +0200] "request" status bytes ["referrer" "user agent"]
//
// The request may hold any bytes, quotes among them; the user may hold spaces. Whatever stands
// after `bytes` is left alone. Pure, never throws.
#ifndef ANTEROOM_TOOLS_REHEARSE_LOG_LINE_H_
#define ANTEROOM_TOOLS_REHEARSE_LOG_LINE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace anteroom::tools {

struct LogLine {
  std::string_view host;  // into the line; 1 to protocol::kVisitorIdBytesMax bytes
  int64_t written_s = 0;  // as written, without the zone: seconds since 1970-01-01 00:00
  int64_t zone_s = 0;     // what the written time is ahead of UTC

  int64_t utc_s() const { return written_s - zone_s; }
};

// Nothing for a line that is not of the form, a cut one among them. `line` is without its newline.
std::optional<LogLine> ParseLogLine(std::string_view line);

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_LOG_LINE_H_
