#!/usr/bin/env bash
# The program in client/README.md is the one in client/examples/, compiles as the page says against an installed library,
# and does against a real daemon what the page says.
set -u
cd "${ANTEROOM_SOURCE_DIR:-.}" || exit 2
bin=${ANTEROOM_BIN:-build/bin}
scratch=$(mktemp -d)
daemon=
stop() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  rm -rf "$scratch"
}
trap stop EXIT
passed=0
failed=0
expect() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "failed: $what"
    failed=$((failed + 1))
  fi
}
quietly() { "$@" >/dev/null; }
contains() { [[ $1 == *"$2"* ]]; }
in_scratch() { (cd "$scratch" && eval "$1"); }

awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' client/README.md >"$scratch/door.cc"
expect "the page's program is client/examples/door.cc" cmp "$scratch/door.cc" client/examples/door.cc

export PKG_CONFIG_PATH=$scratch/usr/lib/pkgconfig
expect "make install" quietly env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make install SANITIZE= PREFIX="$scratch/usr" DESTDIR=
command=$(awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' client/README.md)
expect "the page's command: $command" in_scratch "$command"

"$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$scratch/data" 2>"$scratch/daemon.log" &
daemon=$!
for _ in $(seq 200); do
  grep -q listening "$scratch/daemon.log" && break
  sleep 0.05
done
timeout 60 "$scratch/door" "unix:$scratch/socket" >"$scratch/said"
expect "the program ends well" test $? -eq 0
sed -E 's/[A-Za-z0-9_-]{22}$/TOKEN/' "$scratch/said" >"$scratch/said-without-tokens"
printf '%s\n' "ann is inside, with token TOKEN" "bob waits at position 1" "bob is inside, with token TOKEN" >"$scratch/wanted"
expect "the program says what the page says" diff "$scratch/wanted" "$scratch/said-without-tokens"
sed -E 's/[A-Za-z0-9_-]{22}$/TOKEN/' client/README.md >"$scratch/page"
expect "the page shows it" contains "$(cat "$scratch/page")" "$(cat "$scratch/wanted")"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
