// What is to go wrong with the next requests, in order for each operation.
//
// Invariant: an entry stands for one request at least.
// Threads: none; one owner.
#ifndef ANTEROOM_CLIENT_TESTING_INTERNAL_FAULT_LIST_H_
#define ANTEROOM_CLIENT_TESTING_INTERNAL_FAULT_LIST_H_

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "protocol/operations.h"
#include "protocol/refusal.h"
#include "server/base/check.h"

namespace anteroom::testing {

struct Fault {
  enum class Kind { kRefuse, kLoseRequest, kLoseReply };
  Kind kind = Kind::kRefuse;
  bool hang_up = false;       // of a loss
  protocol::Refusal refusal;  // of kRefuse
};

class FaultList {
 public:
  void Add(protocol::Operation operation, Fault fault, size_t times) {
    if (times > 0) faults_[operation].push_back({std::move(fault), times});
  }

  // The fault of a request that has just come.
  std::optional<Fault> Take(protocol::Operation operation) {
    const auto found = faults_.find(operation);
    if (found == faults_.end()) return std::nullopt;
    Entry& entry = found->second.front();
    Fault fault = entry.fault;
    if (--entry.times == 0) found->second.pop_front();
    if (found->second.empty()) faults_.erase(found);
    return fault;
  }

  // Requests that have yet to come.
  size_t size() const {
    size_t size = 0;
    for (const auto& [operation, entries] : faults_) {
      for (const Entry& entry : entries) size += entry.times;
    }
    return size;
  }
  void Clear() { faults_.clear(); }

  void check_invariants() const {
    for (const auto& [operation, entries] : faults_) {
      CHECK(!entries.empty());
      for (const Entry& entry : entries) CHECK_GE(entry.times, 1);
    }
  }

 private:
  struct Entry {
    Fault fault;
    size_t times;
  };
  std::map<protocol::Operation, std::deque<Entry>> faults_;
};

}  // namespace anteroom::testing

#endif  // ANTEROOM_CLIENT_TESTING_INTERNAL_FAULT_LIST_H_
