#!/usr/bin/env bash
# Long tests, for `make soak MINUTES=`: a third of the time each for kill -9 cycles of the real daemon under load (a
# thousand of them, or as many as fit; more never), for the simulation, and for fuzzing where there is `make fuzz`. Each
# round has seeds of its own. The last line is `N passed, N failed`; what failed keeps its log, with its seed, in
# build/soak/.
set -u
cd "$(dirname "$0")/.." || exit 2

minutes=${MINUTES:-60}
[[ $minutes =~ ^[1-9][0-9]{0,4}$ ]] || { echo "MINUTES=$minutes: it takes a number from 1 on" >&2 && exit 2; }
kills_wanted=1000
kills_per_round=50
share=$((minutes * 60 / 3))
logs=build/soak
passed=0
failed=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/anteroom-soak.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$logs"
export ANTEROOM_BIN=$PWD/build/bin

# part NAME SECONDS COMMAND...: one round, its counts, and its log if something failed.
part() {
  local name=$1 seconds=$2 log="$logs/$1.log" counts status
  shift 2
  mkdir "$scratch/$name"
  TMPDIR=$scratch/$name timeout --kill-after=10 "$seconds" "$@" >"$log" 2>&1 </dev/null
  status=$?
  rm -rf "${scratch:?}/$name"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  [ -n "$counts" ] || counts="$((status == 0)) passed, $((status != 0)) failed"
  passed=$((passed + ${counts%% *}))
  counts=${counts#*, }
  counts=${counts% *}
  [ $status -eq 0 ] || [ "$counts" -gt 0 ] || counts=1
  failed=$((failed + counts))
  if [ "$counts" -gt 0 ]; then
    tail -n 30 "$log" | sed 's/^/  | /'
    echo "FAILED: $name, exit status $status ($log)"
    return 1
  fi
  tail -n 1 "$log" | sed "s/^/ok: $name: /"
  rm "$log"
}

# Within a make of its own, that its variables do not reach.
again=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory)

kills=0
while [ $kills -lt $kills_wanted ] && [ $SECONDS -lt $share ]; do
  ANTEROOM_KILL_CYCLES=$kills_per_round part "kills-$((kills / kills_per_round + 1))" 600 build/bin/kill_cycles_test
  kills=$((kills + kills_per_round))
done
echo "$kills kills of $kills_wanted"

part simulation $((share + 120)) build/bin/sim --seconds $share
if grep -q '^fuzz:' Makefile; then
  # It fuzzes its targets one after the other, SECONDS each.
  part fuzzing $((share * 4 + 1800)) "${again[@]}" fuzz SECONDS=$((share / 12 + 1))
else
  echo 'fuzzing: left out, for make fuzz is not there'
fi

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
