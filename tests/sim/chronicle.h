// What has happened, record by record, since the log was last read: enough to say what the state
// was at any of them, for that is where a recovery may come back.
//
// Invariant: `base` is the state after record `base_sequence`, and what is kept are the records
// that follow it, without a gap.
// Threads: none; one owner.
#ifndef ANTEROOM_TESTS_SIM_CHRONICLE_H_
#define ANTEROOM_TESTS_SIM_CHRONICLE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/base/check.h"
#include "tests/sim/model.h"

namespace anteroom::sim {

class Chronicle {
 public:
  explicit Chronicle(const Names* names) : base_(names) {}

  void Append(std::string_view record) {
    bytes_ += record;
    ends_.push_back(bytes_.size());
  }
  uint64_t last_sequence() const { return base_sequence_ + ends_.size(); }

  // Something that shows records up to `sequence` has left the daemon: they must never be lost.
  void Leave(uint64_t sequence) { left_ = std::max(left_, sequence); }
  uint64_t left() const { return left_; }

  // Recovery came back with the records up to `sequence`; what came after them never was. Returns
  // the state there.
  const Model& CutTo(uint64_t sequence) {
    CHECK_GE(sequence, left_);
    CHECK_GE(sequence, base_sequence_);
    CHECK_LE(sequence, last_sequence());
    size_t begin = 0;
    for (size_t i = 0; i < sequence - base_sequence_; ++i) {
      base_.Apply(std::string_view(bytes_).substr(begin, ends_[i] - begin));
      begin = ends_[i];
    }
    base_sequence_ = left_ = sequence;
    bytes_.clear();
    ends_.clear();
    return base_;
  }

 private:
  Model base_;
  uint64_t base_sequence_ = 0;
  uint64_t left_ = 0;
  std::string bytes_;
  std::vector<size_t> ends_;
};

}  // namespace anteroom::sim

#endif  // ANTEROOM_TESTS_SIM_CHRONICLE_H_
