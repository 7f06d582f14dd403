# Shared by the end-to-end tests in shell: a real daemon on a Unix socket in a folder of its own, and counting.
# Sourced; needs `set -u` and nothing else. Ends what it started, by process id.
bin=${ANTEROOM_BIN:-build/bin}
source_dir=${ANTEROOM_SOURCE_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
scratch=$(mktemp -d)
data=$scratch/data
export ANTEROOM_SERVER=unix:$scratch/socket
passed=0
failed=0
# Words that stand before the daemon's own: a program that starts it and leaves it this process, as `strace -D` does.
under=()
daemon=
daemon_status=
tracer=
trap 'end_tracer; end_daemon KILL; rm -rf "$scratch"' EXIT

# pause SECONDS, and holds FILE TEXT: without a process each, which is what a test of many small steps spends its time on.
exec {silence}<> <(:)
pause() { read -r -t "$1" -u "$silence"; }
holds() { [[ $(<"$1") == *"$2"* ]]; }

# The strace that looks at the daemon, if any.
end_tracer() {
  [ -n "$tracer" ] || return 0
  kill "$tracer" 2>/dev/null
  wait "$tracer" 2>/dev/null
  tracer=
}

# attach STRACE...: that strace looks at the daemon; false, and none, when it cannot, with the reason in $scratch/attached.
attach() {
  # What an earlier one said is no sign.
  : >"$scratch/attached"
  "$@" -p "$daemon" 2>"$scratch/attached" &
  tracer=$!
  for _ in {1..500}; do
    holds "$scratch/attached" attached && return 0
    kill -0 "$tracer" 2>/dev/null || break
    pause 0.01
  done
  end_tracer
  return 1
}

# launch FLAG...: starts it and does not wait.
launch() {
  "${under[@]}" "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$data" "$@" >"$scratch/log" 2>&1 &
  daemon=$!
}

# start FLAG...: and waits until it listens; false when it ends instead, with $daemon_status.
start() {
  # What an earlier one said is no sign.
  : >"$scratch/log"
  launch "$@"
  for _ in {1..1000}; do
    holds "$scratch/log" 'listening on' && return 0
    kill -0 "$daemon" 2>/dev/null || break
    pause 0.02
  done
  holds "$scratch/log" 'listening on' && return 0
  end_daemon KILL
  return 1
}

# end_daemon SIGNAL: its exit status is then in $daemon_status. It has twenty seconds.
end_daemon() {
  [ -n "$daemon" ] || return 0
  kill "-$1" "$daemon" 2>/dev/null
  [ "$1" = KILL ] || wait_for_end
  reap
}
await_daemon() {
  wait_for_end
  reap
}
wait_for_end() {
  for _ in {1..1000}; do
    kill -0 "$daemon" 2>/dev/null || break
    pause 0.02
  done
}
# Bash's own words about a process that was killed are of no use here.
reap() {
  kill -KILL "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  daemon_status=$?
  daemon=
} 2>/dev/null

cli() { timeout 60 "$bin/anteroom" "$@" </dev/null; }

# check WHAT COMMAND...: counts whether the command succeeds.
check() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: $what"
    [ ! -s "$scratch/log" ] || sed 's/^/  daemon | /' "$scratch/log" | tail -n 5
  fi
}
is() { [ "$1" = "$2" ] || { echo "  '$1' is not '$2'" && false; }; }
says() { grep -qE -- "$2" "$1"; }

closing() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
