// After a restart: asks the daemon about everything that was ever answered and compares.
#ifndef ANTEROOM_TESTS_E2E_KILL_AUDIT_H_
#define ANTEROOM_TESTS_E2E_KILL_AUDIT_H_

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/kill_journal.h"
#include "tests/e2e/kill_load.h"
#include "tests/support/raw_client.h"

namespace anteroom {

class KillAudit {
 public:
  KillAudit(Journal* journal, std::mt19937_64* random, RawClient* client)
      : journal_(*journal), random_(*random), client_(*client) {}

  // Everybody, or those who wait or are inside and some of the others.
  void Run(std::vector<KeyedAdmit>* admits, bool everybody) {
    const auto health = client_.Call<protocol::Operation::kHealth>({});
    if (!health) return journal_.Blame("health is not answered");
    if (health->at_ms < journal_.latest_at_ms) journal_.Blame("the engine's time went back");
    for (JournalRoom& room : journal_.rooms) CheckSettings(&room);
    // Time must not let anybody in between one question and the next.
    SetMode(kByRate, protocol::Mode::kPaused);
    RepeatAdmits(admits);
    AskAboutPeople(everybody);
    journal_.CheckOrder();
    for (size_t room = 0; room < kRooms; ++room) CheckRoom(room);
    CheckTokens(everybody);
    SetMode(kByRate, protocol::Mode::kQueue);
  }

 private:
  void SetMode(size_t number, protocol::Mode mode) {
    protocol::RoomSettings change;
    change.mode = mode;
    JournalRoom& room = journal_.rooms[number];
    const auto reply =
        client_.Call<protocol::Operation::kRoomSet>({room.name, change, room.revision});
    protocol::Overlay(change, &room.settings);
    ++room.revision;
    if (!reply || reply->settings != room.settings || reply->revision != room.revision) {
      journal_.Blame(room.name + ": settings cannot be changed: " + client_.last_refusal.message);
    }
  }

  // A change without an answer was made as a whole or not at all.
  void CheckSettings(JournalRoom* room) {
    const auto shown = client_.Call<protocol::Operation::kRoomShow>({room->name});
    if (!shown) return journal_.Blame(room->name + " is gone");
    if (room->pending && shown->revision == room->revision + 1) {
      protocol::Overlay(*room->pending, &room->settings);
      ++room->revision;
    }
    room->pending.reset();
    if (shown->revision != room->revision || shown->settings != room->settings) {
      journal_.Blame(room->name + ": other settings than were answered");
    }
  }

  // The one without an answer lets its people in now or has before; an older one gets its answer.
  void RepeatAdmits(std::vector<KeyedAdmit>* admits) {
    if (admits->empty()) return;
    // No more than the room remembers.
    const size_t recent = std::min<size_t>(admits->size(), 900);
    RepeatAdmit(&(*admits)[admits->size() - 1 - random_() % recent]);
    RepeatAdmit(&admits->back());
  }
  void RepeatAdmit(KeyedAdmit* admit) {
    const auto reply = client_.Call<protocol::Operation::kAdmit>(
        {journal_.rooms[kByHand].name, admit->count, admit->key});
    if (!reply) return journal_.Blame("an admit is not answered again");
    for (const auto& admitted : reply->admitted) journal_.ObserveLetIn(kByHand, admitted);
    if (!admit->answer) admit->answer = reply;
    if (reply->count != admit->answer->count ||
        reply->first_admission != admit->answer->first_admission) {
      journal_.Blame("an admit asked again gives another answer");
    }
  }

  void AskAboutPeople(bool everybody) {
    std::vector<std::vector<size_t>> batches(1);
    for (size_t i = 0; i < journal_.people.size(); ++i) {
      const Place* place = journal_.PlaceOf(i);
      const bool is_over = place != nullptr && place->state == protocol::State::kEnded &&
                           !journal_.people[i].pending;
      if (is_over && !everybody && random_() % 16 != 0) continue;
      if (batches.back().size() == 500) batches.emplace_back();
      batches.back().push_back(i);
    }
    for (const auto& batch : batches) AskAbout(batch);
    for (Person& person : journal_.people) person.pending.reset();
  }
  void AskAbout(const std::vector<size_t>& batch) {
    protocol::StatusManyRequest request;
    for (const size_t i : batch) {
      const Person& person = journal_.people[i];
      request.items.push_back({journal_.rooms[person.room].name, person.id});
    }
    const auto results = client_.Call<protocol::Operation::kStatusMany>(request);
    if (!results || results->items.size() != batch.size()) {
      return journal_.Blame("a batch of questions is not answered");
    }
    for (size_t i = 0; i < batch.size(); ++i) {
      const protocol::VisitorResult& result = results->items[i];
      if (result.reply) {
        journal_.Observe(batch[i], *result.reply);
      } else if (result.refusal->error == protocol::ErrorCode::kNotFound) {
        journal_.ObserveNobody(batch[i]);
      } else {
        journal_.Blame(batch[i], "refused: " + result.refusal->message);
      }
    }
  }

  // Counts, and who stands where: exactly those, and there, who said so one by one.
  void CheckRoom(size_t number) {
    const JournalRoom& room = journal_.rooms[number];
    const auto shown = client_.Call<protocol::Operation::kRoomShow>({room.name});
    if (!shown) return journal_.Blame(room.name + " is gone");
    const protocol::Counts& counts = shown->counts;
    const protocol::Counts known = journal_.CountsOf(number);
    const auto same = [&](std::string_view name, uint64_t said, uint64_t wanted) {
      if (said == wanted) return;
      journal_.Blame(room.name + ": " + std::string(name) + " is " + std::to_string(said) +
                     ", and by what people were told " + std::to_string(wanted));
    };
    same("waiting", counts.waiting, known.waiting);
    same("admitted", counts.admitted, known.admitted);
    same("active", counts.active, known.active);
    same("occupied", counts.occupied, known.occupied);
    same("joined_total", counts.joined_total, known.joined_total);
    same("admitted_total", counts.admitted_total, known.admitted_total);
    same("claimed_total", counts.claimed_total, known.claimed_total);
    same("completed_total", counts.completed_total, known.completed_total);
    same("cancelled_total", counts.cancelled_total, known.cancelled_total);
    same("left_total", counts.left_total, known.left_total);
    const auto line = Page<protocol::Operation::kPeek>(number);
    same("the length of the list of peek", line.size(), counts.waiting);
    for (size_t i = 0; i < line.size(); ++i) {
      same("a place in the list of peek", line[i].second.ahead.value_or(~0ull), i);
    }
    same("the length of the list of inside", Page<protocol::Operation::kInside>(number).size(),
         counts.occupied);
  }

  template <protocol::Operation kOperation>
  std::vector<std::pair<size_t, protocol::VisitorReply>> Page(size_t number) {
    std::vector<std::pair<size_t, protocol::VisitorReply>> all;
    uint64_t from = 0;
    for (;;) {
      const auto page = client_.Call<kOperation>({journal_.rooms[number].name, from, 500});
      if (!page) {
        journal_.Blame("a page is not answered");
        return all;
      }
      for (const protocol::VisitorEntry& entry : page->items) {
        const auto index = journal_.Find(number, entry.visitor);
        if (!index) {
          journal_.Blame("somebody is there who never came: " + entry.visitor);
          continue;
        }
        journal_.Observe(*index, entry.reply);
        if (entry.lane != journal_.people[*index].lane) journal_.Blame(*index, "another lane");
        all.emplace_back(*index, entry.reply);
      }
      if (!page->next) return all;
      from = *page->next;
    }
  }

  // Tokens are as good or as spent as before.
  void CheckTokens(bool everybody) {
    for (const auto& [arrival, place] : journal_.places) {
      if (!place.token || journal_.people[place.person].arrival != arrival) continue;
      const bool is_over = place.state == protocol::State::kEnded;
      if (!everybody && random_() % (is_over ? 64 : 4) != 0) continue;
      const Person& person = journal_.people[place.person];
      const auto reply = client_.Call<protocol::Operation::kVerify>(
          {journal_.rooms[person.room].name, person.id, place.token->view()});
      if (reply && !is_over) {
        journal_.Observe(place.person, *reply);
      } else if (reply || !is_over || client_.last_refusal.error != protocol::ErrorCode::kExpired ||
                 client_.last_refusal.reason != place.end) {
        journal_.Blame(place.person, "the token is not what it was");
      }
    }
  }

  Journal& journal_;
  std::mt19937_64& random_;
  RawClient& client_;
};

}  // namespace anteroom

#endif  // ANTEROOM_TESTS_E2E_KILL_AUDIT_H_
