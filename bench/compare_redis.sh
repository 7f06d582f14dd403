#!/usr/bin/env bash
# Anteroom and Redis side by side: starts a redis-server without persistence and two anteroomd (durability none, and
# commit) on spare loopback ports, lets one load process (bench/loadgen) speak to them in turns, and stops them.
# Ends with one line of JSON on standard output; how it goes is told on standard error.
#
#   bench/compare_redis.sh [--rounds N] ...   passes its arguments on to loadgen
#
# join_ratio, position_ratio and admit_ratio are rates, Anteroom's over Redis's; memory_ratio is resident memory a person
# in line, likewise; commit_share is the rate of joins with durability commit over min(rate with none, requests in
# flight / (2 x the sync time that the daemon measured meanwhile)); recovery_ratio is the time in which the same people are
# read back at a start, from a snapshot and from Redis's file.
#
# Nothing is pinned to a processor: the server under load and the load process share what there is, on both sides alike,
# and the servers that are not under load sleep. The data lies under TMPDIR, or else /var/tmp, which is a disk where /tmp
# may be memory. ANTEROOM_BENCH_TINY=1 is a run of seconds whose numbers mean nothing.
set -u
cd "$(dirname "$0")/.." || exit 2

bin=${ANTEROOM_BIN:-build/bin}
first_port=17411
ports_tried=50
seconds_max=180

for program in "$bin/anteroomd" "$bin/anteroom" "$bin/loadgen"; do
  if [ ! -x "$program" ]; then
    echo "$program is not there; build it with: make $program" >&2
    exit 2
  fi
done
if ! command -v redis-server >/dev/null; then
  echo "redis-server is not there; install it with: tools/install_deps.sh redis" >&2
  exit 2
fi

folder=$(mktemp -d "${TMPDIR:-/var/tmp}/anteroom-bench.XXXXXX") || exit 2
started=()
stop() {
  trap - EXIT INT TERM
  for process in "${started[@]}"; do kill -TERM "$process" 2>/dev/null; done
  for process in "${started[@]}"; do wait "$process" 2>/dev/null; done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# A port that somebody listens on answers a connection.
taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

fail() {
  echo "$1" >&2
  cat "$2" >&2
  exit 1
}

# Sets redis_port and redis_process. A redis-server that lost a race for its port ends, and the next one is tried.
start_redis() {
  for ((redis_port = first_port; redis_port < first_port + ports_tried; ++redis_port)); do
    taken "$redis_port" && continue
    redis-server --bind 127.0.0.1 --port "$redis_port" --save '' --appendonly no --daemonize no --dir "$folder" \
      >"$folder/redis.log" 2>&1 &
    redis_process=$!
    started+=("$redis_process")
    for _ in {1..100}; do
      kill -0 "$redis_process" 2>/dev/null || continue 2
      grep -q 'Ready to accept connections' "$folder/redis.log" && return
      sleep 0.1
    done
    break
  done
  fail 'redis-server does not start:' "$folder/redis.log"
}

# start_anteroomd DURABILITY sets anteroom_address and anteroom_process.
start_anteroomd() {
  local log=$folder/anteroomd-$1.log
  "$bin/anteroomd" --listen 127.0.0.1:0 --data "$folder/data-$1" --durability "$1" >"$log" 2>&1 &
  anteroom_process=$!
  started+=("$anteroom_process")
  for _ in {1..100}; do
    kill -0 "$anteroom_process" 2>/dev/null || break
    anteroom_address=$(sed -n 's/.* listening on \([^ ,]*\).*/\1/p' "$log")
    [ -n "$anteroom_address" ] && return
    sleep 0.1
  done
  fail 'anteroomd does not start:' "$log"
}

start_redis
arguments=(--redis "127.0.0.1:$redis_port" --redis-pid "$redis_process")
start_anteroomd none
arguments+=(--anteroom "$anteroom_address" --anteroom-pid "$anteroom_process")
start_anteroomd commit
arguments+=(--commit "$anteroom_address" --commit-pid "$anteroom_process")
if [ -n "${ANTEROOM_BENCH_TINY:-}" ]; then
  arguments+=(--people 5000 --joins 2000 --positions 2000 --rounds 3)
fi

# In the background: a signal that comes while bash waits for a program in the foreground is looked at only afterwards.
timeout "$seconds_max" "$bin/loadgen" "${arguments[@]}" "$@" >"$folder/load.json" &
load_process=$!
started+=("$load_process")
wait "$load_process"
status=$?
[ $status -ne 124 ] || echo "not done after $seconds_max s" >&2
if [ $status -ne 0 ]; then
  cat "$folder/load.json"
  exit $status
fi

# The same people read back: Redis from the file that it saves, Anteroom from a snapshot. From the start of the process
# until it says that it answers, in turns; medians.
end() {
  kill -TERM "$1" 2>/dev/null
  wait "$1" 2>/dev/null
}
# ready_ms TEXT LOG PROCESS: waits until the log says so and prints how long that took.
ready_ms() {
  local began=$EPOCHREALTIME
  until grep -q "$1" "$2" 2>/dev/null; do
    kill -0 "$3" 2>/dev/null || return 1
    sleep 0.005
  done
  echo $(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
}
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }

redis-cli -p "$redis_port" save >/dev/null || fail 'redis-server does not save:' "$folder/redis.log"
"$bin/anteroom" backup "$folder/backup" --data "$folder/data-none" >&2 || exit 1
"$bin/anteroom" restore "$folder/backup" --data "$folder/restored" >&2 || exit 1
for process in "${started[@]}"; do end "$process"; done
started=()
ours=()
theirs=()
for round in 1 2 3; do
  redis-server --bind 127.0.0.1 --port "$redis_port" --save '' --appendonly no --daemonize no --dir "$folder" \
    >"$folder/redis-$round.log" 2>&1 &
  started=("$!")
  theirs+=("$(ready_ms 'Ready to accept connections' "$folder/redis-$round.log" "$!")")
  end "$!"
  "$bin/anteroomd" --listen 127.0.0.1:0 --data "$folder/restored" >"$folder/anteroomd-$round.log" 2>&1 &
  started=("$!")
  ours+=("$(ready_ms 'listening on' "$folder/anteroomd-$round.log" "$!")")
  end "$!"
done
echo "read back, ms: Redis ${theirs[*]}, Anteroom ${ours[*]}" >&2
sed -E "s/\}$/,\"recovery_ms\":$(median "${ours[@]}"),\"redis_recovery_ms\":$(median "${theirs[@]}"),\"recovery_ratio\":$(
  awk -v ours="$(median "${ours[@]}")" -v theirs="$(median "${theirs[@]}")" 'BEGIN { printf "%.2f", ours / (theirs > 0 ? theirs : 1) }'
)}/" "$folder/load.json"
