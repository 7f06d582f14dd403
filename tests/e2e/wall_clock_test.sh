#!/usr/bin/env bash
# The wall clock goes a day forward and an hour back under a running daemon, and between two runs of it: nobody's time is
# over for that, and nobody is kept. A small library loaded before libc moves the clock; the monotonic one, which is what
# the daemon may read, it leaves alone.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

cat >"$scratch/clock.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
static long SecondsAhead() {
  long ahead = 0;
  if (FILE* file = std::fopen(std::getenv("CLOCK_AHEAD"), "r")) {
    if (std::fscanf(file, "%ld", &ahead) != 1) ahead = 0;
    std::fclose(file);
  }
  return ahead;
}
extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  const bool is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
  if (result == 0 && is_wall) now->tv_sec += SecondsAhead();
  return static_cast<int>(result);
}
extern "C" int gettimeofday(timeval* now, void*) noexcept {
  timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  return now->tv_sec = precise.tv_sec, now->tv_usec = precise.tv_nsec / 1000, 0;
}
extern "C" time_t time(time_t* now) noexcept {
  timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}
END
g++ -shared -fPIC -o "$scratch/clock.so" "$scratch/clock.cc" || exit 1
export CLOCK_AHEAD=$scratch/ahead
launch() {
  LD_PRELOAD=$scratch/clock.so "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$data" >"$scratch/log" 2>&1 &
  daemon=$!
}
wall_clock() { LD_PRELOAD=$scratch/clock.so date +%s; }
# field NAME WORDS...: of the CLI's answer in JSON.
field() {
  local name=$1
  shift
  cli --output json "$@" | sed -n "s/.*\"$name\":\"\{0,1\}\([^\",}]*\).*/\1/p"
}
state() { field state status "$@"; }
# unchanged WHEN: everybody with time left has it still, to a minute.
unchanged() {
  local left
  check "$1: who waits, waits" is "$(state hours cleo)" waiting
  check "$1: whoever may still claim may" is "$(state hours ann)" admitted
  left=$(field expires_in_ms status hours ann)
  check "$1: as long as before" [ $((left > 7100000 && left <= 7200000)) = 1 ]
  check "$1: a session goes on" is "$(state hours bob)" active
  check "$1: who is blocked is so" says <(cli join hours eve 2>&1) 'forbidden|blocked'
}
# over_in_time WHEN: a claim of a second is over after that, no sooner.
over_in_time() {
  local name=$2 began ended
  began=$(field at_ms join seconds "$name")
  for _ in {1..200}; do
    [ "$(state seconds "$name")" = ended ] && break
    pause 0.05
  done
  check "$1: who does not claim is ended" is "$(state seconds "$name")" ended
  ended=$(field at_ms status seconds "$name")
  check "$1: no sooner than said" [ $((ended - began >= 1000)) = 1 ]
}

check 'it starts' start
check 'with the library' holds "/proc/$daemon/maps" "$scratch/clock.so"
cli room create hours rate=none capacity=2 claim_ttl=2h session_ttl=2h waiting_ttl=2h remember_ttl=2h >/dev/null
cli room create seconds rate=none claim_ttl=1s remember_ttl=1h >/dev/null
cli enter hours bob >/dev/null
for name in ann cleo eve; do cli join hours $name >/dev/null; done
cli --yes revoke hours eve --block 2h >/dev/null 2>&1
unchanged 'before'
over_in_time 'before' before

day=86400
for ahead in $day -3600; do
  was=$(wall_clock)
  echo "$ahead" >"$CLOCK_AHEAD"
  now=$(wall_clock)
  check "$ahead s: the clock has moved" [ $(((now - was) * (ahead > 0 ? 1 : -1) > 3000)) = 1 ]
  unchanged "$ahead s, running"
  over_in_time "$ahead s, running" "running$ahead"
  # Downtime costs nobody anything, whatever the clock says of it.
  end_daemon KILL
  echo $((-ahead)) >"$CLOCK_AHEAD"
  check "$ahead s: it starts with the clock moved meanwhile" start
  unchanged "$ahead s, after a restart"
  over_in_time "$ahead s, after a restart" "restarted$ahead"
  end_daemon TERM
  check "$ahead s: it stops in good order" is "$daemon_status" 0
  rm "$CLOCK_AHEAD"
  check "$ahead s: it starts again" start
done
unchanged 'at the end'

closing
