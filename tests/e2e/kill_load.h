// The load of the kill -9 cycles: several connections with many requests in flight on each, from
// people who come, wait, go in, finish and leave, and from an operator who lets people in by hand
// and changes settings. All that is answered or pushed goes into the journal.
#ifndef ANTEROOM_TESTS_E2E_KILL_LOAD_H_
#define ANTEROOM_TESTS_E2E_KILL_LOAD_H_

#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/e2e/kill_journal.h"
#include "tests/support/raw_client.h"

namespace anteroom {

// An admit by count with its key, to be asked again after a restart.
struct KeyedAdmit {
  std::string key;
  uint32_t count = 0;
  std::optional<protocol::AdmitReply> answer;
};

// The rooms of the journal, in the order in which they are added.
inline constexpr size_t kByCapacity = 0;
inline constexpr size_t kByRate = 1;
inline constexpr size_t kByHand = 2;
inline constexpr size_t kRooms = 3;

// What the load may do next on each connection lasts over all cycles; connections do not.
class KillLoad {
 public:
  KillLoad(Journal* journal, std::mt19937_64* random) : journal_(*journal), random_(*random) {}

  bool Connect(int port) {
    for (Link& link : links_) {
      link.client = std::make_unique<RawClient>();
      link.asked.clear();
      link.watched.clear();
      link.input.clear();
      if (!link.client->ConnectTcp(port) || !link.client->Hello()) return false;
    }
    return true;
  }

  // Works until so many answers have come, or for so long.
  void Run(uint64_t answers, std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    const uint64_t answers_end = answers_ + answers;
    while (answers_ < answers_end && std::chrono::steady_clock::now() < end) {
      std::array<pollfd, kLinks> polled;
      for (size_t i = 0; i < kLinks; ++i) {
        Fill(i);
        polled[i] = {links_[i].client->socket(), POLLIN, 0};
      }
      poll(polled.data(), polled.size(), 5);
      for (Link& link : links_) ReadWhatIsThere(&link, MSG_DONTWAIT);
    }
  }

  // After the kill: what the daemon has sent is an answer, whenever it is read.
  void ReadTheRest() {
    for (Link& link : links_) {
      ReadWhatIsThere(&link, 0);
      link.client->Close();
    }
  }

  std::vector<KeyedAdmit>& admits() { return admits_; }
  uint64_t answers() const { return answers_; }
  uint64_t unavailable() const { return unavailable_; }

 private:
  static constexpr size_t kLinks = 4;
  static constexpr size_t kInFlight = 16;
  // People of one connection who are waiting or inside; more do not come.
  static constexpr size_t kPeoplePerLink = 300;
  // A daemon takes so many keys in its life.
  static constexpr size_t kRotationsMax = 500;

  using Handler = std::function<void(const RawFrame&)>;
  struct Link {
    std::unique_ptr<RawClient> client;
    std::string input;
    uint32_t last_id = 0;
    std::unordered_map<uint32_t, Handler> asked;
    std::unordered_map<uint32_t, size_t> watched;
    std::vector<size_t> people;
  };

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  template <protocol::Operation kOperation>
  void Ask(Link* link, const typename protocol::RequestOf<kOperation>::Message& message,
           Handler handler) {
    const uint32_t id = ++link->last_id;
    link->asked.emplace(id, std::move(handler));
    // A daemon that is gone is noticed when reading.
    link->client->Ask<kOperation>(id, message);
  }

  template <protocol::Operation kOperation>
  void AskFor(Link* link, size_t index,
              const typename protocol::RequestOf<kOperation>::Message& message,
              protocol::Outcome outcome = protocol::Outcome::kCancelled) {
    journal_.people[index].pending = Pending{kOperation, outcome};
    Ask<kOperation>(link, message, [this, link, index](const RawFrame& frame) {
      if (frame.header.kind == protocol::FrameKind::kReply) {
        const auto reply = frame.As<protocol::VisitorReply>();
        if (!reply) return journal_.Blame(index, "an answer that cannot be read");
        journal_.Observe(index, *reply);
        if (reply->state == protocol::State::kWaiting && OneIn(8)) Watch(link, index);
      } else {
        Refused(index, *frame.As<protocol::Refusal>());
      }
      journal_.people[index].pending.reset();
    });
  }

  void Refused(size_t index, const protocol::Refusal& refusal) {
    const Place* place = journal_.PlaceOf(index);
    if (refusal.error == protocol::ErrorCode::kUnavailable) {
      ++unavailable_;
    } else if (refusal.error != protocol::ErrorCode::kExpired || place == nullptr ||
               place->end != refusal.reason) {
      journal_.Blame(index, "refused: " + refusal.message);
    }
  }

  void Watch(Link* link, size_t index) {
    const Person& person = journal_.people[index];
    Ask<protocol::Operation::kWatch>(link, {journal_.rooms[person.room].name, {person.id}},
                                     [](const RawFrame&) {});
    link->watched.emplace(link->last_id, index);
  }

  // Keeps so many requests in flight.
  void Fill(size_t number) {
    Link& link = links_[number];
    for (int tries = 0; link.asked.size() < kInFlight && tries < 64; ++tries) {
      if (number == 0 && OneIn(50)) {
        Operate(&link);
      } else if (link.people.size() < kPeoplePerLink && (link.people.size() < 20 || OneIn(3))) {
        Come(&link, number);
      } else {
        const size_t at = Below(link.people.size());
        const size_t index = link.people[at];
        if (journal_.people[index].pending) continue;
        if (!Act(&link, index)) {
          link.people[at] = link.people.back();
          link.people.pop_back();
        }
      }
    }
  }

  void Come(Link* link, size_t number) {
    const size_t room = Below(kRooms);
    const bool first_lane = room == kByCapacity && OneIn(4);
    // Names in no order, some long.
    std::string id = std::to_string(random_() % 1'000'000) + ":" + std::to_string(number) + ":" +
                     std::to_string(journal_.people.size());
    if (OneIn(16)) id.append(200, 'x');
    const size_t index = journal_.AddPerson(id, room, first_lane ? 10 : protocol::kLaneDefault);
    link->people.push_back(index);
    Join(link, index);
  }

  void Join(Link* link, size_t index) {
    using protocol::Operation;
    const Person& person = journal_.people[index];
    const protocol::JoinRequest request{journal_.rooms[person.room].name, person.id, person.lane};
    if (OneIn(6)) {
      AskFor<Operation::kEnter>(link, index, request);
    } else {
      AskFor<Operation::kJoin>(link, index, request);
    }
  }

  // The next thing this person does; false when they are gone for good.
  bool Act(Link* link, size_t index) {
    using protocol::Operation;
    using protocol::Outcome;
    using protocol::State;
    const Person& person = journal_.people[index];
    const std::string& room = journal_.rooms[person.room].name;
    const Place* place = journal_.PlaceOf(index);
    const uint64_t choice = Below(20);
    if (place == nullptr || (place->state == State::kEnded && choice < 4)) {
      Join(link, index);
    } else if (place->state == State::kWaiting) {
      if (choice < 8) {
        AskFor<Operation::kStatus>(link, index, {room, person.id});
      } else if (choice < 18) {
        Join(link, index);
      } else {
        AskFor<Operation::kLeave>(link, index, {room, person.id});
      }
    } else if (place->state == State::kAdmitted && choice >= 2) {
      if (choice < 4) {
        AskFor<Operation::kLeave>(link, index, {room, person.id});
      } else {
        AskFor<Operation::kClaim>(link, index, {room, person.id, place->token->view()});
      }
    } else if (place->state != State::kEnded) {
      if (choice < 4) {
        AskFor<Operation::kFinish>(link, index, {room, person.id, {}, {}});
      } else if (choice < 7 && place->state == State::kActive) {
        AskFor<Operation::kTouch>(link, index, {room, person.id, place->token->view()});
      } else {
        AskFor<Operation::kFinish>(link, index,
                                   {room, person.id, place->token->view(), Outcome::kCompleted},
                                   Outcome::kCompleted);
      }
    } else if (choice < 8 && place->token) {
      // Said twice; the other outcome must not count.
      AskFor<Operation::kFinish>(link, index,
                                 {room, person.id, place->token->view(), Outcome::kCancelled});
    } else if (choice < 12 && place->token) {
      AskFor<Operation::kClaim>(link, index, {room, person.id, place->token->view()});
    } else {
      return choice < 16;
    }
    return true;
  }

  // Beside everything else: no token may change by it.
  void Rotate(Link* link) {
    Ask<protocol::Operation::kRotateTokenKey>(link, {}, [this](const RawFrame& frame) {
      const auto reply = frame.As<protocol::TokenKeyReply>();
      if (frame.header.kind != protocol::FrameKind::kReply || !reply) {
        return journal_.Blame("a rotation of the tokens' key is not answered");
      }
      if (!token_keys_.insert(reply->key_id).second) journal_.Blame("a key of tokens came twice");
    });
  }

  void Operate(Link* link) {
    if (rotations_ < kRotationsMax && OneIn(8)) {
      ++rotations_;
      return Rotate(link);
    }
    if (OneIn(2)) {
      if (!admits_.empty() && !admits_.back().answer) return;
      const size_t number = admits_.size();
      admits_.push_back(
          {"key " + std::to_string(number), 1 + static_cast<uint32_t>(Below(20)), {}});
      const KeyedAdmit& admit = admits_.back();
      Ask<protocol::Operation::kAdmit>(
          link, {journal_.rooms[kByHand].name, admit.count, admit.key},
          [this, number](const RawFrame& frame) {
            const auto reply = frame.As<protocol::AdmitReply>();
            if (frame.header.kind != protocol::FrameKind::kReply || !reply) {
              return journal_.Blame("an admit by count is not answered");
            }
            admits_[number].answer = reply;
            for (const auto& admitted : reply->admitted) journal_.ObserveLetIn(kByHand, admitted);
          });
      return;
    }
    const size_t number = Below(2);
    JournalRoom& room = journal_.rooms[number];
    if (room.pending) return;
    protocol::RoomSettings change;
    if (number == kByCapacity) change.capacity = protocol::Limit{20 + Below(60)};
    if (number == kByRate)
      change.rate = protocol::Rate{500 + static_cast<uint32_t>(Below(4000)), 1000};
    // Saying what is so already is no change.
    protocol::RoomSettings changed = room.settings;
    protocol::Overlay(change, &changed);
    if (changed == room.settings) return;
    room.pending = change;
    Ask<protocol::Operation::kRoomSet>(
        link, {room.name, change, room.revision}, [this, number](const RawFrame& frame) {
          JournalRoom& room = journal_.rooms[number];
          const auto reply = frame.As<protocol::RoomReply>();
          if (frame.header.kind != protocol::FrameKind::kReply || !reply) {
            return journal_.Blame(room.name + ": a change of settings is not answered");
          }
          protocol::Overlay(*room.pending, &room.settings);
          room.pending.reset();
          if (reply->revision != ++room.revision || reply->settings != room.settings) {
            journal_.Blame(room.name + ": not the settings that were asked for");
          }
        });
  }

  // With `flags` 0 to the end of the connection, with MSG_DONTWAIT what has come.
  void ReadWhatIsThere(Link* link, int flags) {
    char bytes[65536];
    for (;;) {
      const ssize_t got = recv(link->client->socket(), bytes, sizeof bytes, flags);
      if (got <= 0) return;
      link->input.append(bytes, static_cast<size_t>(got));
      RawFrame frame;
      std::string_view payload;
      size_t used = 0;
      std::string_view rest = link->input;
      while (protocol::TakeFrame(rest, &frame.header, &payload, &used) ==
             protocol::FrameStatus::kComplete) {
        frame.payload = payload;
        rest.remove_prefix(used);
        Take(link, frame);
      }
      link->input.erase(0, link->input.size() - rest.size());
    }
  }

  void Take(Link* link, const RawFrame& frame) {
    ++answers_;
    const uint32_t id = frame.header.request_id;
    if (frame.header.kind == protocol::FrameKind::kPush) {
      const auto push = frame.As<protocol::VisitorPush>();
      const auto watched = link->watched.find(id);
      if (!push || watched == link->watched.end()) return journal_.Blame("a push for nobody");
      if (push->reply) journal_.Observe(watched->second, *push->reply);
      return;
    }
    if (frame.header.kind == protocol::FrameKind::kEnd) return;
    const auto asked = link->asked.find(id);
    if (asked == link->asked.end()) return journal_.Blame("an answer to no question");
    const Handler handler = std::move(asked->second);
    link->asked.erase(asked);
    handler(frame);
  }

  Journal& journal_;
  std::mt19937_64& random_;
  std::array<Link, kLinks> links_;
  std::vector<KeyedAdmit> admits_;
  size_t rotations_ = 0;
  std::set<uint32_t> token_keys_;
  uint64_t answers_ = 0;
  uint64_t unavailable_ = 0;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_E2E_KILL_LOAD_H_
