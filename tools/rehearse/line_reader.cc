#include "tools/rehearse/line_reader.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "server/base/check.h"
#include "tools/rehearse/limits.h"

namespace anteroom::tools {

absl::StatusOr<LineReader> LineReader::Open(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  return LineReader(file);
}

LineReader::LineReader(FILE* file) : file_(file), buffer_(kLineBytesMax + 1) {}

// Reads more behind what is there. False when nothing more comes.
bool LineReader::Fill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const size_t bytes = std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_.get());
  end_ += bytes;
  if (bytes > 0) return true;
  if (std::ferror(file_.get()) != 0) status_ = absl::ErrnoToStatus(errno, "cannot read the file");
  at_end_ = true;
  return false;
}

std::optional<LineReader::Line> LineReader::Next() {
  size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const size_t size = end_ - begin_;
    if (const void* newline = std::memchr(start + searched, '\n', size - searched)) {
      const auto length = static_cast<size_t>(static_cast<const char*>(newline) - start);
      begin_ += length + 1;
      return Line{{start, length}, true};
    }
    searched = size;
    if (size == buffer_.size()) break;
    if (Fill()) continue;
    if (size == 0) return std::nullopt;
    start = buffer_.data() + begin_;
    begin_ = end_;
    return Line{{start, size}, true};
  }
  // Too long: passed over to its end.
  while (true) {
    begin_ = end_;
    if (!Fill()) break;
    if (const void* newline = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_)) {
      begin_ = static_cast<size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
      break;
    }
  }
  return Line{{}, false};
}

void LineReader::check_invariants() const {
  CHECK(begin_ <= end_);
  CHECK(end_ <= buffer_.size());
}

}  // namespace anteroom::tools
