// Rooms, from their counts: all together, and those with a label each.
//
// What has happened in all rooms together is a gauge, `anteroom_ever_...`: it falls when a room is
// deleted or reset, which a counter must not, for Prometheus would take the fall for a restart and
// all that is left for new. Of one room a reset is just that.
#include <algorithm>
#include <string>
#include <utility>

#include "tools/metrics/reading.h"

namespace anteroom::metrics {
namespace {

struct CountName {
  uint64_t protocol::Counts::*member;
  std::string_view name;
  std::string_view help;
};

constexpr CountName kPresent[] = {
    {&protocol::Counts::waiting, "waiting", "People waiting in line"},
    {&protocol::Counts::admitted, "admitted", "People let in who have not claimed yet"},
    {&protocol::Counts::active, "active", "People inside, in their sessions"},
    {&protocol::Counts::occupied, "occupied", "Slots taken: admitted and active together"},
};

constexpr CountName kEver[] = {
    {&protocol::Counts::joined_total, "joined", "People who have taken a place in line"},
    {&protocol::Counts::admitted_total, "admitted", "Admissions"},
    {&protocol::Counts::claimed_total, "claimed", "Admissions that were claimed"},
    {&protocol::Counts::completed_total, "completed", "Sessions finished as completed"},
    {&protocol::Counts::cancelled_total, "cancelled", "Sessions finished as cancelled"},
    {&protocol::Counts::no_show_total, "no_show", "Admissions that nobody claimed in time"},
    {&protocol::Counts::expired_total, "expired", "Sessions that ran out"},
    {&protocol::Counts::left_total, "left", "People who gave up their place or admission"},
    {&protocol::Counts::revoked_total, "revoked", "People removed by an operator"},
};

constexpr std::string_view kRefusedHelp = "Requests refused since the daemon's start";

std::string Help(std::string_view what, std::string_view rest) {
  return std::string(what) + std::string(rest);
}

std::string Name(std::string_view before, std::string_view name, std::string_view after = {}) {
  return std::string(before) + std::string(name) + std::string(after);
}

double Of(const protocol::Counts& counts, const CountName& count) {
  return static_cast<double>(counts.*count.member);
}

double PerSecond(uint64_t per_s_milli) {
  return static_cast<double>(per_s_milli) / 1e3;
}

double RefusedFor(std::string_view reason, const protocol::Counts& counts) {
  for (const protocol::RefusedCount& one : counts.refused_total) {
    if (NameOf(one.error) == reason) return static_cast<double>(one.count);
  }
  return 0;
}

void AddAll(const protocol::StatsReply& all, Families* families) {
  for (const CountName& count : kPresent) {
    families->push_back(
        Gauge(count.name, Help(count.help, ", all rooms together."), Of(all.counts, count)));
  }
  for (const CountName& count : kEver) {
    families->push_back(Gauge(Name("ever_", count.name),
                              Help(count.help, ", in all rooms that there are now."),
                              Of(all.counts, count)));
  }
  Family refused = Counter("refused_total", Help(kRefusedHelp, ", by reason."));
  // Those that have not happened too: a counter that begins at 1 has no rise that could be seen.
  for (const std::string_view reason : protocol::ErrorCodeNames()) {
    Add(&refused, RefusedFor(reason, all.counts), {{"reason", reason}});
  }
  families->push_back(std::move(refused));
  families->push_back(Gauge("joins_per_second", "Over the last ten seconds, all rooms together.",
                            PerSecond(all.joins_per_s_milli)));
  families->push_back(Gauge("admissions_per_second",
                            "Over the last ten seconds, all rooms together.",
                            PerSecond(all.admissions_per_s_milli)));
  families->push_back(Gauge("requests_per_second",
                            "Of the whole daemon, over the last ten seconds.",
                            PerSecond(all.requests_per_s_milli)));
}

// One family of a value that each room has, or that some have.
template <typename Value>
Family Labelled(Family family, const std::vector<protocol::RoomReply>& rooms, Value value) {
  family.metric.reserve(rooms.size());
  for (const protocol::RoomReply& room : rooms) {
    if (const std::optional<double> is = value(room)) Add(&family, *is, {{"room", room.room}});
  }
  return family;
}

void AddCounts(const std::vector<protocol::RoomReply>& rooms, Families* families) {
  for (const CountName& count : kPresent) {
    families->push_back(Labelled(Gauge(Name("room_", count.name), Help(count.help, ".")), rooms,
                                 [&](const auto& room) { return Of(room.counts, count); }));
  }
  for (const CountName& count : kEver) {
    families->push_back(
        Labelled(Counter(Name("room_", count.name, "_total"),
                         Help(count.help, ", since the room's creation or last reset.")),
                 rooms, [&](const auto& room) { return Of(room.counts, count); }));
  }
  Family refused = Counter("room_refused_total", Help(kRefusedHelp, ", by room and reason."));
  for (const protocol::RoomReply& room : rooms) {
    for (const protocol::RefusedCount& one : room.counts.refused_total) {
      Add(&refused, static_cast<double>(one.count),
          {{"room", room.room}, {"reason", NameOf(one.error)}});
    }
  }
  families->push_back(std::move(refused));
}

// Of rooms that have a stock.
void AddStock(const std::vector<protocol::RoomReply>& rooms, Families* families) {
  families->push_back(
      Labelled(Gauge("room_stock_units", "Units left to sell; absent without a stock."), rooms,
               [](const protocol::RoomReply& room) -> std::optional<double> {
                 const auto& stock = room.settings.stock;
                 if (!stock || stock->none()) return std::nullopt;
                 return static_cast<double>(stock->units);
               }));
  const auto add = [&](std::string_view name, std::string_view help,
                       std::optional<uint64_t> protocol::Counts::*member) {
    families->push_back(Labelled(Counter(Name("room_", name, "_total"), std::string(help)), rooms,
                                 [&](const protocol::RoomReply& room) -> std::optional<double> {
                                   const std::optional<uint64_t>& units = room.counts.*member;
                                   if (!units) return std::nullopt;
                                   return static_cast<double>(*units);
                                 }));
  };
  add("sold_units", "Units that completed sessions took from the room's stock.",
      &protocol::Counts::sold_units_total);
  add("oversold_units", "Units that completed sessions wanted when none was left.",
      &protocol::Counts::oversold_units_total);
}

void AddSettings(const std::vector<protocol::RoomReply>& rooms, Families* families) {
  families->push_back(
      Labelled(Gauge("room_capacity", "Slots that the room has; absent without a limit."), rooms,
               [](const protocol::RoomReply& room) -> std::optional<double> {
                 const auto& capacity = room.settings.capacity;
                 if (!capacity || capacity->none()) return std::nullopt;
                 return static_cast<double>(capacity->value);
               }));
  families->push_back(Labelled(
      Gauge("room_rate_per_second", "Admissions that the room's rate allows; absent without one."),
      rooms, [](const protocol::RoomReply& room) -> std::optional<double> {
        const auto& rate = room.settings.rate;
        if (!rate || rate->none()) return std::nullopt;
        return static_cast<double>(rate->count) * 1e3 / static_cast<double>(rate->per_ms);
      }));
  Family modes = Gauge("room_mode", "Always 1; its label says which mode the room is in.");
  modes.metric.reserve(rooms.size());
  for (const protocol::RoomReply& room : rooms) {
    if (!room.settings.mode) continue;
    Add(&modes, 1, {{"room", room.room}, {"mode", NameOf(*room.settings.mode)}});
  }
  families->push_back(std::move(modes));
}

}  // namespace

void AddRoomFamilies(const RoomsReading& rooms, Families* families) {
  const uint64_t labelled = rooms.labelled.size();
  families->push_back(
      Gauge("rooms", "Rooms that there are.", static_cast<double>(rooms.all.rooms)));
  // A room made between the two answers is no reason for a number below 0.
  families->push_back(Gauge(
      "rooms_left_out", "Rooms that have no series of their own here, for there are too many.",
      static_cast<double>(rooms.all.rooms - std::min(labelled, rooms.all.rooms))));
  AddAll(rooms.all, families);
  AddCounts(rooms.labelled, families);
  AddSettings(rooms.labelled, families);
  AddStock(rooms.labelled, families);
}

}  // namespace anteroom::metrics
