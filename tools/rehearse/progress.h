// The line that shows how a rehearsal goes, redrawn in place on a terminal. Elsewhere it is silent.
#ifndef ANTEROOM_TOOLS_REHEARSE_PROGRESS_H_
#define ANTEROOM_TOOLS_REHEARSE_PROGRESS_H_

#include <cstdint>
#include <string>

namespace anteroom::tools {

struct ProgressState {
  uint64_t arrived = 0;
  uint64_t visitors = 0;  // of the whole file
  uint64_t waiting = 0;
  uint64_t inside = 0;
  uint64_t gone = 0;
  int64_t elapsed_ms = 0;
  bool going_home = false;
};

// One line of at most `columns` characters.
std::string FormatProgress(const ProgressState& state, size_t columns);

class Progress {
 public:
  static constexpr uint64_t kRedrawMs = 200;

  // On standard error.
  Progress();
  bool shown() const { return terminal_; }
  void Draw(const ProgressState& state);
  // Leaves the cursor at the beginning of an empty line.
  void Clear();

 private:
  const bool terminal_;
};

}  // namespace anteroom::tools

#endif  // ANTEROOM_TOOLS_REHEARSE_PROGRESS_H_
