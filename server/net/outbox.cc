#include "server/net/outbox.h"

#include "server/base/check.h"
#include "server/base/limits.h"

namespace anteroom::net {

void Outbox::StartRun(uint64_t mark) {
  runs_.push_back({mark, held_.size()});
}

void Outbox::Release(uint64_t sequence) {
  if (sequence <= released_) return;
  released_ = sequence;
  size_t released_runs = first_run_;
  while (released_runs < runs_.size() && runs_[released_runs].mark <= sequence) ++released_runs;
  if (released_runs == first_run_) return;
  first_run_ = released_runs;
  const size_t end = first_run_ < runs_.size() ? runs_[first_run_].begin : held_.size();
  if (ready_.empty() && held_begin_ == 0 && end == held_.size()) {
    ready_.swap(held_);
  } else {
    ready_.append(held_, held_begin_, end - held_begin_);
  }
  if (first_run_ == runs_.size()) {
    runs_.clear();
    first_run_ = 0;
    held_begin_ = 0;
    held_.clear();
    if (held_.capacity() > limits::kIdleOutputBytesMax) held_.shrink_to_fit();
    return;
  }
  held_begin_ = end;
  // What is gone is cut off when it outweighs what stays: each byte is moved once or twice.
  if (held_begin_ <= held_.size() / 2) return;
  held_.erase(0, held_begin_);
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<ptrdiff_t>(first_run_));
  first_run_ = 0;
  for (Run& run : runs_) run.begin -= held_begin_;
  held_begin_ = 0;
}

void Outbox::GiveBack() {
  if (queued_bytes() > 0) return;
  ready_.shrink_to_fit();
  held_.clear();
  held_.shrink_to_fit();
  held_begin_ = 0;
  runs_.clear();
  runs_.shrink_to_fit();
  first_run_ = 0;
}

void Outbox::check_invariants() const {
  CHECK_LE(held_begin_, held_.size());
  CHECK_LE(first_run_, runs_.size());
  CHECK_EQ(first_run_ == runs_.size(), !holds());
  for (size_t i = first_run_; i < runs_.size(); ++i) {
    CHECK_GT(runs_[i].mark, i == first_run_ ? released_ : runs_[i - 1].mark);
    CHECK_LE(runs_[i].begin, held_.size());
    if (i == first_run_) CHECK_EQ(runs_[i].begin, held_begin_);
    if (i > first_run_) CHECK_GT(runs_[i].begin, runs_[i - 1].begin);
  }
}

}  // namespace anteroom::net
