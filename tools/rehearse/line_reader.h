// A file, line by line, in bounded memory, whatever is in it.
//
// Invariant: the bytes between the two marks are read and not yet handed out.
// Threads: one at a time.
#ifndef ANTEROOM_TOOLS_REHEARSE_LINE_READER_H_
#define ANTEROOM_TOOLS_REHEARSE_LINE_READER_H_

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace anteroom::tools {

class LineReader {
 public:
  static absl::StatusOr<LineReader> Open(const std::string& path);

  struct Line {
    std::string_view text;  // without the newline; until the next call
    bool whole = true;      // false: longer than kLineBytesMax, and `text` is empty
  };
  // Nothing at the end of the file, or when it can no longer be read: see status().
  std::optional<Line> Next();
  const absl::Status& status() const { return status_; }

  void check_invariants() const;

 private:
  struct Closer {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  explicit LineReader(FILE* file);

  bool Fill();

  std::unique_ptr<FILE, Closer> file_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  absl::Status status_;
};

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_LINE_READER_H_
