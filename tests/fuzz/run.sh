#!/usr/bin/env bash
# Builds the fuzz targets and runs each for some seconds, from its committed corpus and what earlier runs have found:
#
#   tests/fuzz/run.sh SECONDS [TARGET ...]     make fuzz SECONDS=60
#
# JOBS of them at a time. What a run adds is kept in build/fuzz/corpus/TARGET, what it prints in build/fuzz/TARGET.log.
# An input that fails is kept in build/fuzz/found/ and is named; once what it shows is mended it belongs into
# tests/fuzz/corpus/TARGET, and into a test. The last line is `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.." || exit 2
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [TARGET ...]}
shift
jobs=${JOBS:-$(nproc)}
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cc; do
    targets+=("$(basename "$source" _fuzz.cc)")
  done
fi

mkdir -p build/fuzz/found
programs=("${targets[@]/%/_fuzz}")
if ! env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory --jobs="$jobs" SANITIZE=fuzz \
  "${programs[@]/#/build/fuzz/bin/}" >build/fuzz/build.log 2>&1; then
  grep -v '^  ' build/fuzz/build.log | tail -n 60
  echo "0 passed, 1 failed"
  exit 1
fi

run_one() {
  local target=$1 log=build/fuzz/$1.log
  mkdir -p "build/fuzz/corpus/$target"
  # An input takes some milliseconds; one that takes seconds is a fault, and so is one that takes memory.
  if "build/fuzz/bin/${target}_fuzz" -max_total_time="$seconds" -max_len=8192 -timeout=20 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/found/$target-" \
    "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1 </dev/null; then
    echo "ok: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
  else
    tail -n 60 "$log" | sed 's/^/  | /'
    echo "FAILED: $target ($log)"
  fi
}
export -f run_one
export seconds
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

results=$(printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'run_one {}')
echo "$results"
passed=$(grep -c '^ok: ' <<<"$results")
failed=$((${#targets[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
