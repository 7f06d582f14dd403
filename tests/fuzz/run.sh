#!/usr/bin/env bash
# Builds the fuzzer and runs its targets, JOBS of them at a time:
#
#   tests/fuzz/run.sh SECONDS [TARGET ...]     each for so long (`make fuzz SECONDS=`)
#   tests/fuzz/run.sh keep [TARGET ...]        takes what runs have found into the committed corpora, where they reach
#                                              what nothing there does
#
# A run begins with three folders: tests/fuzz/corpus/TARGET, committed; build/fuzz/seeds/TARGET, made by the fuzzer
# itself from the tests' examples; build/fuzz/corpus/TARGET, what runs have added. What it prints is in
# build/fuzz/TARGET.log. An input that fails is kept in build/fuzz/found/ and is named. The last line is
# `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.." || exit 2
task=${1:?usage: tests/fuzz/run.sh SECONDS|keep [TARGET ...]}
shift
jobs=${JOBS:-$(nproc)}
fuzzer=build/fuzz/bin/fuzzer

mkdir -p build/fuzz/found
if ! env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory --jobs="$jobs" SANITIZE=fuzz \
  "$fuzzer" >build/fuzz/build.log 2>&1; then
  grep -v '^  ' build/fuzz/build.log | tail -n 60
  echo "0 passed, 1 failed"
  exit 1
fi
rm -rf build/fuzz/seeds
"$fuzzer" seeds build/fuzz/seeds || exit 1
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <("$fuzzer" names)

# An input takes some milliseconds; one that takes seconds is a fault, and so is one that takes memory.
fuzz() {
  local target=$1
  shift
  "$fuzzer" "$target" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/found/$target-" "$@" >"build/fuzz/$target.log" 2>&1 </dev/null
}

run_one() {
  local folders=()
  for folder in {build/fuzz/seeds,tests/fuzz/corpus}/"$1"; do
    [ ! -d "$folder" ] || folders+=("$folder")
  done
  mkdir -p "build/fuzz/corpus/$1"
  fuzz "$1" -max_total_time="$task" -max_len=4096 "build/fuzz/corpus/$1" "${folders[@]}"
}

# So that the corpora stay small: few inputs, none of them long, for what code there is, not for how often it runs; and
# none for what the seeds reach.
keep_one() {
  local kept=build/fuzz/kept/$1 seeds=build/fuzz/seeds/$1 corpus=tests/fuzz/corpus/$1 file
  rm -rf "$kept"
  mkdir -p "$kept" "$corpus" "$seeds" "build/fuzz/corpus/$1"
  cp -r "$seeds/." "$corpus/." "$kept"
  fuzz "$1" -set_cover_merge=1 -use_counters=0 -max_len=1024 "$kept" "build/fuzz/corpus/$1" || return 1
  for file in "$kept"/*; do
    [ -e "$seeds/${file##*/}" ] || cp "$file" "$corpus"
  done
}

try_one() {
  local log=build/fuzz/$1.log
  if "$how" "$1"; then
    echo "ok: $1: $(sed -nE 's/^(stat::number_of_executed_units|MERGE-OUTER): *(.*new files|[0-9]+$).*/\2/p' "$log" | tail -n 1)"
  else
    tail -n 60 "$log" | sed 's/^/  | /'
    echo "FAILED: $1 ($log)"
  fi
}
export -f fuzz run_one keep_one try_one
how=run_one
[ "$task" != keep ] || how=keep_one
export task fuzzer how
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

results=$(printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'try_one {}')
echo "$results"
passed=$(grep -c '^ok: ' <<<"$results")
failed=$((${#targets[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
