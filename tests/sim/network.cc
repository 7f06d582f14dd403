#include "tests/sim/network.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "server/base/check.h"

namespace anteroom::sim {

namespace {

// A frame holds no more than which call it answers.
using FrameBytes = uint32_t;

}  // namespace

Network::Network(std::mt19937_64* random, Options options)
    : random_(*random), options_(options), ends_(options.connections) {}

bool Network::CanSend(uint32_t connection) const {
  const End& end = ends_[connection];
  return end.asked.size() + end.arrived.size() + end.answered.size() < options_.pipelined;
}

void Network::Send(uint32_t connection, Ask ask) {
  if (free_calls_.empty()) {
    free_calls_.push_back(static_cast<uint32_t>(calls_.size()));
    calls_.emplace_back();
  }
  const uint32_t call = free_calls_.back();
  free_calls_.pop_back();
  calls_[call].ask = std::move(ask);
  ends_[connection].asked.push_back(call);
}

void Network::TakeArrived(
    const std::function<void(const Arrived& arrived, bool chunk_begins)>& work) {
  bool chunk_begins = true;
  for (uint32_t left = Below(options_.turn_requests + 1); left > 0; --left) {
    const uint32_t connection = Below(ends_.size());
    End& end = ends_[connection];
    if (end.asked.empty()) continue;
    const uint32_t call = end.asked.front();
    end.asked.pop_front();
    end.arrived.push_back(call);
    work({connection, call, &calls_[call].ask}, chunk_begins);
    chunk_begins = Below(4) == 0;
  }
}

void Network::PutAnswer(const Arrived& arrived, Answer answer, bool immediate) {
  answer.order = ++answers_;
  net::Outbox& outbox = *ends_[arrived.connection].outbox;
  std::string* const out = immediate ? outbox.Immediate() : outbox.Marked(answer.mark);
  const FrameBytes frame = arrived.call;
  out->append(reinterpret_cast<const char*>(&frame), sizeof(frame));
  calls_[arrived.call].answer = std::move(answer);
  calls_[arrived.call].immediate = immediate;
}

void Network::Release(uint64_t sequence, uint64_t* left) {
  for (End& end : ends_) {
    end.outbox->Release(sequence);
    std::string& ready = *end.outbox->ready();
    for (size_t at = 0; at < ready.size(); at += sizeof(FrameBytes)) {
      FrameBytes call = 0;
      std::memcpy(&call, ready.data() + at, sizeof(call));
      const auto found = std::find(end.arrived.begin(), end.arrived.end(), call);
      CHECK(found != end.arrived.end());
      end.arrived.erase(found);
      end.answered.push_back(call);
      if (!calls_[call].immediate) *left = std::max(*left, calls_[call].answer.mark);
    }
    ready.clear();
  }
}

bool Network::Deliver(const std::function<void(const Ask&, const Answer&)>& take) {
  const uint32_t first = Below(ends_.size());
  for (uint32_t i = 0; i < ends_.size(); ++i) {
    const uint32_t connection = (first + i) % static_cast<uint32_t>(ends_.size());
    std::deque<uint32_t>& answered = ends_[connection].answered;
    if (answered.empty()) continue;
    const uint32_t call = answered.front();
    answered.pop_front();
    take(calls_[call].ask, calls_[call].answer);
    free_calls_.push_back(call);
    return true;
  }
  return false;
}

std::vector<Ask> Network::Break(uint32_t connection) {
  End& end = ends_[connection];
  std::vector<Ask> lost;
  for (const std::deque<uint32_t>* calls : {&end.answered, &end.arrived, &end.asked}) {
    for (const uint32_t call : *calls) {
      lost.push_back(std::move(calls_[call].ask));
      free_calls_.push_back(call);
    }
  }
  end = End{};
  return lost;
}

}  // namespace anteroom::sim
