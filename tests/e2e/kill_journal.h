// What a daemon has said to its clients, person by person, and whether all of it can be true: the
// judge of the kill -9 cycles. Everything that a daemon says of somebody is put before Observe,
// before a kill and after the restart alike; what contradicts something said earlier becomes a line
// in violations().
//
// A person asks for one thing at a time, so at a kill at most one request of each is of unknown
// outcome: `pending`, which may have been done or not, but nothing in between.
//
// Nothing here runs out by itself: rooms have deadlines of an hour.
#ifndef ANTEROOM_TESTS_E2E_KILL_JOURNAL_H_
#define ANTEROOM_TESTS_E2E_KILL_JOURNAL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/operations.h"
#include "protocol/text.h"

namespace anteroom {

// An asked-for change whose answer has not come.
struct Pending {
  protocol::Operation operation;
  protocol::Outcome outcome = protocol::Outcome::kCancelled;  // of a finish
};

struct Person {
  std::string id;
  size_t room = 0;
  uint8_t lane = 0;
  // The arrival of the newest place that is known of; 0 is none.
  uint64_t arrival = 0;
  std::optional<Pending> pending;
};

// One place in a line, from the join to the end; known by its arrival.
struct Place {
  size_t person = 0;
  protocol::State state = protocol::State::kWaiting;
  uint64_t at_ms = 0;
  std::optional<uint64_t> ahead;
  uint64_t admission = 0;
  std::optional<protocol::Token> token;
  std::optional<protocol::Reason> end;
  bool claimed = false;
};

struct JournalRoom {
  std::string name;
  // Whether newcomers of another lane may pass those who wait here.
  bool several_lanes = false;
  uint64_t revision = 0;
  protocol::RoomSettings settings;  // as last answered
  // A room_set whose answer has not come.
  std::optional<protocol::RoomSettings> pending;
};

// Invariant: a place belongs to one person, an admission to one place.
class Journal {
 public:
  size_t AddRoom(std::string name, bool several_lanes) {
    rooms.push_back({std::move(name), several_lanes, 0, {}, {}});
    return rooms.size() - 1;
  }
  size_t AddPerson(std::string id, size_t room, uint8_t lane) {
    by_id_[{room, id}] = people.size();
    people.push_back({std::move(id), room, lane, 0, {}});
    return people.size() - 1;
  }
  std::optional<size_t> Find(size_t room, const std::string& id) const {
    const auto found = by_id_.find({room, id});
    if (found == by_id_.end()) return std::nullopt;
    return found->second;
  }
  const Place* PlaceOf(size_t person) const {
    const auto found = places.find(people[person].arrival);
    return found == places.end() ? nullptr : &found->second;
  }

  // The daemon has said this of the person.
  void Observe(size_t index, const protocol::VisitorReply& said) {
    using protocol::State;
    Person& person = people[index];
    ++observations;
    if (!said.arrival || !said.at_ms) return Blame(index, "a reply without arrival or at_ms");
    const auto [found, is_new] = places.try_emplace(*said.arrival);
    Place& place = found->second;
    if (is_new) {
      place.person = index;
      place.at_ms = 0;
      CheckNewPlace(index, *said.arrival);
      person.arrival = *said.arrival;
    } else if (place.person != index) {
      return Blame(index, "the arrival of somebody else, " + people[place.person].id);
    } else if (person.arrival != *said.arrival) {
      return Blame(index, "back at a place that had ended");
    }
    CheckStep(index, place, is_new, said);
    if (said.admission) CheckAdmission(index, &place, *said.admission);
    if (!said.admission && place.admission != 0) Blame(index, "the admission is forgotten");
    if (said.token) CheckToken(index, &place, *said.token);
    if (said.state == State::kWaiting) CheckAhead(index, &place, said);
    if (said.state == State::kActive) place.claimed = true;
    place.state = said.state;
    place.at_ms = *said.at_ms;
    place.end = said.state == State::kEnded ? said.reason : std::nullopt;
    latest_at_ms = std::max(latest_at_ms, *said.at_ms);
  }

  // The daemon has said that there is nobody like that.
  void ObserveNobody(size_t index) {
    if (people[index].arrival != 0) Blame(index, "answered before, and now unknown");
  }

  // An operator's admit has let this person in; which place it is, a later reply shows.
  void ObserveLetIn(size_t room, const protocol::AdmittedVisitor& admitted) {
    const auto index = Find(room, admitted.visitor);
    if (!index) return Blame("somebody let in who never came: " + admitted.visitor);
    const auto [found, is_new] =
        let_in_.try_emplace(admitted.admission, std::pair(*index, admitted.token));
    if (found->second.first != *index) Blame(*index, "the admission of somebody else");
    if (found->second.second != admitted.token) Blame(*index, "another token for one admission");
  }

  // Over everything said so far: admission in order of arrival in every lane, and nobody let in who
  // is not found inside or ended. All who wait must just have been asked about.
  void CheckOrder() {
    struct Lane {
      uint64_t last_admission = 0;
      bool somebody_waits = false;
    };
    std::map<std::pair<size_t, uint8_t>, Lane> lanes;
    for (const auto& [arrival, place] : places) {
      const Person& person = people[place.person];
      Lane& lane = lanes[{person.room, person.lane}];
      if (place.state == protocol::State::kWaiting) lane.somebody_waits = true;
      if (place.admission == 0) continue;
      if (lane.somebody_waits) Blame(place.person, "admitted before somebody who came earlier");
      if (place.admission <= lane.last_admission) Blame(place.person, "admitted out of order");
      lane.last_admission = place.admission;
    }
    for (const auto& [admission, who] : let_in_) {
      if (!place_of_admission_.contains(admission)) {
        Blame(who.first, "admission " + std::to_string(admission) + " was given and is gone");
      }
    }
  }

  protocol::Counts CountsOf(size_t room) const {
    using protocol::Reason;
    using protocol::State;
    protocol::Counts counts;
    for (const auto& [arrival, place] : places) {
      if (people[place.person].room != room) continue;
      ++counts.joined_total;
      counts.waiting += place.state == State::kWaiting;
      counts.admitted += place.state == State::kAdmitted;
      counts.active += place.state == State::kActive;
      counts.admitted_total += place.admission != 0;
      counts.claimed_total += place.claimed;
      counts.completed_total += place.end == Reason::kCompleted;
      counts.cancelled_total += place.end == Reason::kCancelled;
      counts.left_total += place.end == Reason::kLeft;
    }
    counts.occupied = counts.admitted + counts.active;
    return counts;
  }

  void Blame(std::string words) { violations.push_back(std::move(words)); }
  void Blame(size_t index, std::string_view words) {
    Blame(rooms[people[index].room].name + "/" + people[index].id + ": " + std::string(words));
  }

  std::vector<JournalRoom> rooms;
  std::vector<Person> people;
  std::map<uint64_t, Place> places;  // by arrival
  uint64_t latest_at_ms = 0;
  uint64_t observations = 0;
  std::vector<std::string> violations;

 private:
  bool MayHaveBeen(size_t index, std::initializer_list<protocol::Operation> operations) const {
    const auto& pending = people[index].pending;
    return pending &&
           std::find(operations.begin(), operations.end(), pending->operation) != operations.end();
  }

  void CheckNewPlace(size_t index, uint64_t arrival) {
    using protocol::Operation;
    const Person& person = people[index];
    if (!MayHaveBeen(index, {Operation::kJoin, Operation::kEnter})) {
      Blame(index, "a place that was not asked for");
    }
    if (person.arrival == 0) return;
    if (arrival < person.arrival) Blame(index, "a new place with an older arrival");
    if (places.at(person.arrival).state != protocol::State::kEnded) {
      Blame(index, "a second place beside the one held");
    }
  }

  void CheckStep(size_t index, const Place& place, bool is_new,
                 const protocol::VisitorReply& said) {
    using protocol::Operation;
    using protocol::Reason;
    using protocol::State;
    if (!is_new && said.state < place.state) {
      Blame(index, "back from " + std::string(NameOf(place.state)) + " to " +
                       std::string(NameOf(said.state)));
    }
    if (*said.at_ms < place.at_ms) Blame(index, "at_ms goes back");
    if (!is_new && said.state == place.state) {
      if (*said.at_ms != place.at_ms) Blame(index, "another at_ms for the same state");
      if (said.state == State::kEnded && said.reason != place.end) {
        Blame(index, "another outcome than the first");
      }
      return;
    }
    if (said.state == State::kActive &&
        !MayHaveBeen(index, {Operation::kClaim, Operation::kEnter})) {
      Blame(index, "active without a claim");
    }
    if (said.state == State::kEnded) {
      const bool left = said.reason == Reason::kLeft && MayHaveBeen(index, {Operation::kLeave});
      const bool finished =
          MayHaveBeen(index, {Operation::kFinish}) &&
          said.reason == (people[index].pending->outcome == protocol::Outcome::kCompleted
                              ? Reason::kCompleted
                              : Reason::kCancelled);
      if (!left && !finished) Blame(index, "ended, though nobody asked for that");
    }
    if ((said.state == State::kAdmitted || said.state == State::kActive) &&
        (!said.admission || !said.token)) {
      Blame(index, "inside without admission or token");
    }
  }

  void CheckAdmission(size_t index, Place* place, uint64_t admission) {
    if (place->admission != 0 && place->admission != admission) {
      Blame(index, "admitted twice to one place");
    }
    place->admission = admission;
    const auto [found, is_new] = place_of_admission_.try_emplace(admission, people[index].arrival);
    if (found->second != people[index].arrival) Blame(index, "an admission given twice");
    const auto let_in = let_in_.find(admission);
    if (let_in == let_in_.end()) return;
    if (let_in->second.first != index) Blame(index, "the admission that somebody else was given");
    CheckToken(index, place, let_in->second.second);
  }

  void CheckToken(size_t index, Place* place, const protocol::Token& token) {
    if (place->token && *place->token != token) Blame(index, "another token for one admission");
    place->token = token;
  }

  void CheckAhead(size_t index, Place* place, const protocol::VisitorReply& said) {
    if (!said.ahead || said.position != *said.ahead + 1) return Blame(index, "no position");
    const bool may_be_passed =
        rooms[people[index].room].several_lanes && people[index].lane >= protocol::kLaneDefault;
    if (!may_be_passed && place->ahead && *said.ahead > *place->ahead) {
      Blame(index, "the position got worse, from " + std::to_string(*place->ahead) + " ahead to " +
                       std::to_string(*said.ahead));
    }
    place->ahead = said.ahead;
  }

  std::map<std::pair<size_t, std::string>, size_t> by_id_;
  std::unordered_map<uint64_t, uint64_t> place_of_admission_;
  // Admissions that an operator was told of: the person and the token.
  std::unordered_map<uint64_t, std::pair<size_t, protocol::Token>> let_in_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_E2E_KILL_JOURNAL_H_
