#!/usr/bin/env bash
# A real daemon on a disk that fails under it, by way of a small library loaded before libc: a sync that fails ends the
# daemon without an answer; while one hangs what shows a room's state waits, and nothing else; a full disk turns newcomers away, everything else goes on, and when there is room again so do
# they, by themselves.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

cat >"$scratch/disk.cc" <<'END'
#include <cerrno>
#include <cstdlib>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
static bool Fails(const char* what) {
  const char* folder = std::getenv("FAULTS");
  return folder != nullptr && access((std::string(folder) + "/" + what).c_str(), F_OK) == 0;
}
extern "C" int fdatasync(int fd) {
  while (Fails("sync-hangs")) usleep(1000);
  if (Fails("sync-fails")) return errno = EIO, -1;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}
extern "C" int posix_fallocate(int fd, off_t offset, off_t bytes) {
  if (Fails("disk-is-full")) return ENOSPC;
  return syscall(SYS_fallocate, fd, 0, offset, bytes) == 0 ? 0 : errno;
}
END
g++ -shared -fPIC -o "$scratch/disk.so" "$scratch/disk.cc" || exit 1
export FAULTS=$scratch
launch() {
  LD_PRELOAD=$scratch/disk.so "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$data" --segment-bytes 64K >"$scratch/log" 2>&1 &
  daemon=$!
}
# outcome STATUS PATTERN WORDS...: the CLI's exit status and what it says.
outcome() {
  local status=$1 pattern=$2 got
  shift 2
  cli "$@" >"$scratch/said" 2>&1
  got=$?
  [ $got -eq "$status" ] && says "$scratch/said" "$pattern" && return 0
  echo "  anteroom $*: status $got"
  sed 's/^/  | /' "$scratch/said"
  return 1
}

# --- a sync that fails ---
check 'it starts' start
check 'a room' outcome 0 sale room create sale capacity=1 rate=none claim_ttl=1h
check 'ann is let in' outcome 0 token --output json join sale ann
cp "$scratch/said" "$scratch/ann"
touch "$scratch/sync-fails"
check 'a failed sync: no answer' outcome 3 . join sale bob
await_daemon
check 'a failed sync: the daemon ends with status 1' is "$daemon_status" 1
check 'a failed sync: said, with the file' says "$scratch/log" 'sync .*[0-9]{8}.log'
check 'a failed sync: nor does it start on such a disk' eval '! start'
check 'a failed sync: status 1 again' is "$daemon_status" 1
rm "$scratch/sync-fails"
check 'on a sound disk it starts' start
check 'ann is still inside' outcome 0 token --output json status sale ann
check 'with the same token' is "$(grep -o '"token":"[^"]*"' "$scratch/said")" "$(grep -o '"token":"[^"]*"' "$scratch/ann")"
# Bob was told nothing: he may be in line or not.
cli leave sale bob >"$scratch/said" 2>&1
end_daemon TERM
check 'and stops in good order' is "$daemon_status" 0

# --- a sync that hangs ---
check 'it starts after that' start
touch "$scratch/sync-hangs"
cli --output json join sale slow >"$scratch/slow" 2>&1 &
slow=$!
field_of_health() { cli --output json health | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
for _ in {1..400}; do
  [ "$(field_of_health sequence)" -gt "$(field_of_health durable_sequence)" ] && break
  sleep 0.05
done
check 'a hanging sync: health is answered, and shows it' [ "$(field_of_health sequence)" -gt "$(field_of_health durable_sequence)" ]
cli --output json status sale slow >"$scratch/seen" 2>&1 &
seen=$!
cli --output json room show sale >"$scratch/counted" 2>&1 &
counted=$!
for _ in {1..5}; do check 'a hanging sync: ping is answered' outcome 0 answers ping; done
check 'a hanging sync: the join is not' kill -0 $slow
check 'a hanging sync: nor what would show it' kill -0 $seen
check 'a hanging sync: nor what would count it' kill -0 $counted
check 'a hanging sync: nothing was said' is "$(cat "$scratch/slow" "$scratch/seen" "$scratch/counted")" ''
rm "$scratch/sync-hangs"
wait $slow
check 'when it is over the join is answered' is $? 0
check 'with the place' says "$scratch/slow" waiting
wait $seen
check 'and so is what waited for it' says "$scratch/seen" waiting
wait $counted
check 'and who counts it' says "$scratch/counted" '"waiting":1,'
check 'slow leaves' outcome 0 left --output json leave sale slow
end_daemon TERM

# --- a full disk ---
check 'it starts once more' start
touch "$scratch/disk-is-full"
check 'a line forms' outcome 0 waiting --output json join sale carl
check 'and grows' outcome 0 waiting --output json join sale dora
check 'a room to fill the log with' outcome 0 paused room create crowd rate=none mode=paused
cli rehearse "$source_dir/tests/data/nasa-launch-1995-07-13-requests-per-second.csv" --room crowd --speed 1000 \
  >"$scratch/rehearsed" 2>&1 &
crowd=$!
turned_away=
for _ in {1..300}; do
  cli --output json join sale "newcomer" >"$scratch/said" 2>&1 || { turned_away=1 && break; }
  cli leave sale newcomer >/dev/null 2>&1
  sleep 0.05
done
kill -TERM "$crowd"
wait "$crowd" 2>/dev/null
check 'a full disk: newcomers are turned away' [ -n "$turned_away" ]
check 'a full disk: in words' says "$scratch/said" '"error":"unavailable".*disk_full|disk_full'
check 'a full disk: health says so' outcome 0 disk_full --output json health
check 'a full disk: and for how long the reserve lasts' [ "$(field_of_health reserved_minutes)" -ge 0 ]
check 'a full disk: who waits is answered' outcome 0 waiting --output json status sale carl
check 'a full disk: and keeps the place' outcome 0 waiting --output json join sale carl
check 'a full disk: a session ends' outcome 0 ended --output json finish sale ann --completed
check 'a full disk: and the next is let in' outcome 0 '"state":"admitted"' --output json status sale carl
check 'a full disk: people leave' outcome 0 left --output json leave sale dora
stopped=
for i in {1..5000}; do
  cli --yes room set sale "max_waiting=$((1000 + i))" >"$scratch/said" 2>&1 || { stopped=1 && break; }
done
check 'the reserve used up: nothing may change' [ -n "$stopped" ]
check 'the reserve used up: in words' says "$scratch/said" 'unavailable: .*(takes no change|disk is full)'
stood=$(field_of_health at_ms)
sleep 0.3
check 'the reserve used up: time stands still' is "$(field_of_health at_ms)" "$stood"
check 'the reserve used up: who is inside is answered' outcome 0 admitted --output json status sale carl
rm "$scratch/disk-is-full"
joined=
for _ in {1..200}; do
  cli --output json join sale late >"$scratch/said" 2>&1 && { joined=1 && break; }
  sleep 0.1
done
check 'when there is room newcomers are taken again' [ -n "$joined" ]
check 'and time goes on' [ "$(field_of_health at_ms)" -gt "$stood" ]
check 'and health is well' outcome 0 '"status":"ok"' --output json health
end_daemon KILL
check 'after a kill it starts' start
check 'nobody was lost' outcome 0 waiting --output json status sale late
end_daemon TERM
check 'the log is whole' outcome 0 'is whole' log check "$data"

closing
