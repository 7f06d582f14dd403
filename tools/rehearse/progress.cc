#include "tools/rehearse/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace anteroom::tools {
namespace {

constexpr size_t kColumnsUnknown = 80;
constexpr size_t kBarColumns = 16;

size_t TerminalColumns() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsUnknown;
  return size.ws_col;
}

}  // namespace

std::string FormatProgress(const ProgressState& state, size_t columns) {
  // Someone counts when gone: the bar is full when the rehearsal is over.
  const uint64_t gone = std::min(state.gone, state.visitors);
  const size_t full = state.visitors == 0 ? kBarColumns : kBarColumns * gone / state.visitors;
  const size_t come = state.visitors == 0
                          ? kBarColumns
                          : kBarColumns * std::min(state.arrived, state.visitors) / state.visitors;
  std::string bar(kBarColumns, ' ');
  std::fill_n(bar.begin(), std::max(full, come), '-');
  std::fill_n(bar.begin(), full, '#');
  const int64_t seconds = state.elapsed_ms / 1000;
  std::string line = absl::StrCat(
      "[", bar, "] ", absl::StrFormat("%d:%02d", seconds / 60, seconds % 60), "  ", state.waiting,
      " in line, ", state.inside, " inside, ", state.gone, " gone; ", state.arrived, " of ",
      state.visitors, " came", state.going_home ? "; sending home" : "");
  if (line.size() > columns) line.resize(columns);
  return line;
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::Draw(const ProgressState& state) {
  if (!terminal_) return;
  // One column is left free: some terminals wrap at the last one. ESC [ K clears what was longer.
  const std::string line = FormatProgress(state, std::max<size_t>(2, TerminalColumns()) - 1);
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
}

void Progress::Clear() {
  if (!terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace anteroom::tools
