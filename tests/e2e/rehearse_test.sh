#!/usr/bin/env bash
# Rehearsals against the real daemon: what is told, what is refused, and with which exit status.
set -u
cd "$(dirname "$0")/../.." || exit 2

bin=${ANTEROOM_BIN:-build/bin}
scratch=$(mktemp -d)
passed=0
failed=0
daemon=
stop_daemon() {
  [ -z "$daemon" ] || { kill -TERM "$daemon" && wait "$daemon"; } 2>/dev/null
  daemon=
}
trap 'stop_daemon; rm -rf "$scratch"' EXIT

cli=("$bin/anteroom" --server "unix:$scratch/socket")

# start_daemon FLAG...: with an empty data directory, listening on a Unix socket alone.
start_daemon() {
  stop_daemon
  rm -rf "$scratch/data"
  "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$scratch/data" "$@" >"$scratch/log" 2>&1 &
  daemon=$!
  for _ in {1..200}; do
    "${cli[@]}" ping >/dev/null 2>&1 && return
    sleep 0.05
  done
  echo "the daemon does not start"
  cat "$scratch/log"
}

# expect STATUS COMMAND...: its exit status; what it said is kept in out and err.
expect() {
  timeout 60 "${@:2}" >"$scratch/out" 2>"$scratch/err"
  ended "$1" $? "${*:2}"
}

# ended WANTED STATUS WHAT
ended() {
  local wanted=$1 status=$2
  shift 2
  if [ $status -eq "$wanted" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $*: exit status $status instead of $wanted"
    sed 's/^/  | /' "$scratch/out" "$scratch/err"
  fi
}

# says FILE TEXT: TEXT stands in out or err.
says() {
  if grep -qF -- "$2" "$scratch/$1"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: no '$2' in $1:"
    sed 's/^/  | /' "$scratch/$1"
  fi
}

json() { expect "$1" "${cli[@]}" --output json rehearse "${@:2}"; }
text() { expect "$1" "${cli[@]}" rehearse "${@:2}"; }

json 3 tests/data/nasa-1995-08-01-access.log --room r
start_daemon

# A room that cannot be rehearsed, a file that cannot.
json 1 tests/data/nasa-1995-08-01-access.log --room r
says out '"error":"not_found"'
says err 'room create'
expect 0 "${cli[@]}" room create r rate=100/s capacity=20
text 2 "$scratch/nothing" --room r
text 2 tests/data/nasa-1995-08-01-access.log --room r --from noon
expect 0 "${cli[@]}" join r somebody
text 1 tests/data/nasa-1995-08-01-access.log --room r
says err 'holds others'
expect 0 "${cli[@]}" revoke r somebody

# An access log, with lines that are none.
{
  echo 'no line'
  cat tests/data/semicomplete-2015-05-17-access.log
  printf '\0\377\n'
} >"$scratch/odd.log"
json 0 "$scratch/odd.log" --room r --speed 20000 --session 10ms --seed 1
says out '"joined":90,"admitted":90,"finished":90'
says out '"unreadable_lines":2,"violations":0'

# A count file, cut, against a narrow door: a line forms, and the promises hold.
json 0 tests/data/nasa-launch-1995-07-13-requests-per-second.csv --room r --speed 100 --session 20ms \
  --from 09:48 --to 09:50 --max-visitors 200
says out '"joined":200,"admitted":200,"finished":200'
says out '"violations":0'
text 0 tests/data/nasa-launch-1995-07-13-requests-per-second.csv --room r --speed 1000 --session 0ms --max-visitors 50
says out 'longest line'

# Turned away, and a line that stands still.
expect 0 "${cli[@]}" room set r max_waiting=5 capacity=0
text 1 tests/data/nasa-1995-08-01-access.log --room r --speed 100000 --give-up 200ms
says out 'line_full'
says err 'gave up'
expect 0 "${cli[@]}" room show r
says out 'waiting'
expect 0 "${cli[@]}" room set r max_waiting=none capacity=20

# Ended early: what happened so far, and an empty room.
expect 0 "${cli[@]}" room set r capacity=1
"${cli[@]}" --output json rehearse tests/data/nasa-launch-1995-07-13-requests-per-second.csv --room r --speed 10 \
  >"$scratch/out" 2>"$scratch/err" &
rehearsal=$!
for _ in {1..200}; do
  "${cli[@]}" --output json room show r | grep -q '"waiting":0,' || break
  sleep 0.05
done
kill -TERM $rehearsal
wait $rehearsal
ended 0 $? 'a rehearsal that is ended'
says out '"end":"interrupted"'
expect 0 "${cli[@]}" --output json room show r
says out '"waiting":0,"admitted":0,"active":0,"occupied":0,'

# The daemon goes away meanwhile.
expect 0 "${cli[@]}" room create s rate=10/s
"${cli[@]}" rehearse tests/data/nasa-launch-1995-07-13-requests-per-second.csv --room s >"$scratch/out" 2>"$scratch/err" &
rehearsal=$!
for _ in {1..200}; do
  "${cli[@]}" --output json room show s | grep -q '"joined_total":0,' || break
  sleep 0.05
done
stop_daemon
wait $rehearsal
ended 3 $? 'a rehearsal whose daemon goes away'

# Time that stands still.
start_daemon --virtual-clock
expect 0 "${cli[@]}" room create r rate=none
json 1 tests/data/nasa-1995-08-01-access.log --room r
says err 'virtual'

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
