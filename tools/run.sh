#!/usr/bin/env bash
# What `make run` shows: a daemon on this machine, a room, and the crowd of a real log that waits in line and is let in.
# On a terminal the daemon then goes on, to be tried out, until Ctrl-C; elsewhere it ends with the rehearsal. Data lies in
# a folder of its own, which is removed at the end.
set -u
cd "$(dirname "$0")/.." || exit 2

bin=${ANTEROOM_BIN:-build/bin}
crowd=tests/data/nasa-launch-1995-07-13-requests-per-second.csv
room=launch
settings=(rate=80/s capacity=200)
speed=20
session=2s
first_port=7411
ports_tried=20

for program in "$bin/anteroomd" "$bin/anteroom"; do
  if [ ! -x "$program" ]; then
    echo "$program is not there; build it with: make" >&2
    exit 2
  fi
done

folder=$(mktemp -d "${TMPDIR:-/tmp}/anteroom-run.XXXXXX") || exit 2
daemon=
stop() {
  trap - EXIT INT TERM
  if [ -n "$daemon" ]; then
    kill -TERM "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
  fi
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

anteroom() { "$bin/anteroom" --server "$server" "$@"; }

# A port that somebody else listens on answers a connection.
taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Starts the daemon on port $1; false when it ends, or does not answer in time. In a session of its own, so that Ctrl-C
# reaches the rehearsal first and the daemon only from here.
start() {
  server=127.0.0.1:$1
  setsid "$bin/anteroomd" --listen "$server" --data "$folder/data" >"$folder/anteroomd.log" 2>&1 &
  daemon=$!
  for _ in {1..100}; do
    kill -0 "$daemon" 2>/dev/null || break
    anteroom ping >"$folder/ping.log" 2>&1 && return 0
    sleep 0.1
  done
  kill -TERM "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  daemon=
  return 1
}

port=$first_port
while ! { ! taken "$port" && start "$port"; }; do
  port=$((port + 1))
  if [ $port -ge $((first_port + ports_tried)) ]; then
    echo "anteroomd does not start on any port from $first_port to $((port - 1)):" >&2
    cat "$folder/anteroomd.log" "$folder/ping.log" >&2 2>/dev/null
    exit 1
  fi
done
[ "$port" = "$first_port" ] || echo "Port $first_port is taken; this daemon listens on $port."

echo "anteroomd listens on $server. Its data is in $folder until this ends."
echo
echo "A room that lets in 80 people a second and holds 200 of them:"
echo "  \$ anteroom room create $room ${settings[*]}"
anteroom room create "$room" "${settings[@]}" >"$folder/room.log" || exit 1
echo
echo "Five minutes of a shuttle launch day in 1995, $speed times as fast: more come than may go in, so a line forms."
echo "  \$ anteroom rehearse $crowd --room $room --speed $speed --session $session"
anteroom rehearse "$crowd" --room "$room" --speed "$speed" --session "$session"
status=$?

# Whoever looks on from a terminal can go on from here.
if [ ! -t 0 ] || [ ! -t 1 ] || [ $status -ne 0 ]; then
  exit $status
fi
option=
[ "$port" = "$first_port" ] || option="--server $server "
cat <<TEXT

The daemon goes on until Ctrl-C. In another terminal, in this folder:
  $bin/anteroom ${option}join $room ann
  $bin/anteroom ${option}watch $room
  $bin/anteroom ${option}room set $room mode=paused
  $bin/anteroom ${option}rehearse tests/data/nasa-1995-08-01-access.log --room $room --speed 60
  $bin/anteroom --help
TEXT
trap "exit 0" INT TERM
wait "$daemon"
