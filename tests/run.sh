#!/usr/bin/env bash
# Builds and runs every test: unit tests and behaviour scripts under ASan and UBSan, the tests of what has threads
# under TSan too, the simulator and the bugs planted for it, end-to-end tests, each benchmark in a tiny size, each fuzz
# target for some seconds. The last line is `N passed, N failed`; the exit
# status is 0 when nothing failed.
#
# A part is a program. One that ends with a line `N passed, N failed` adds these counts; any other counts as one test,
# by its exit status. What a part printed is kept in build/test/ and shown when it fails.
#
# A part runs in the repository's root and is told through the environment:
#   ANTEROOM_BIN         the folder of the programs to test      ANTEROOM_SOURCE_DIR   the repository's root
#   TMPDIR               an empty folder of its own              ANTEROOM_BENCH_TINY   benchmarks: smallest size
set -u
cd "$(dirname "$0")/.." || exit 2

logs=build/test
jobs=${JOBS:-$(nproc)}
total_passed=0
total_failed=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/anteroom-test.XXXXXX")
declare -A builds
trap 'kill "${builds[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT
mkdir -p "$logs"
export ANTEROOM_SOURCE_DIR=$PWD
export ANTEROOM_BENCH_TINY=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# begin NAME [VARIABLE=value ...] TARGET...: starts to build, with what the tests leave of the processors: most of them
# wait. finish NAME: until that is built. What cannot be built is a failure, and the rest is still tested.
begin() {
  local name=$1
  shift
  echo "building: $name"
  env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL nice -n 19 make --keep-going --jobs="$jobs" "$@" \
    >"$logs/build-$name.log" 2>&1 </dev/null &
  builds[$name]=$!
}
finish() {
  local name=$1 started=$SECONDS status
  wait "${builds[$name]}"
  status=$?
  unset "builds[$name]"
  if [ $status -eq 0 ]; then
    echo "built: $name, after $((SECONDS - started)) s more"
  else
    grep -v '^  ' "$logs/build-$name.log" | tail -n 60
    echo "FAILED: building $name ($logs/build-$name.log)"
    total_failed=$((total_failed + 1))
  fi
}

# part NAME SECONDS COMMAND...: runs one part, at most so long, and adds its counts.
part() {
  local name=$1 seconds=$2 log="$logs/$1.log" started=$SECONDS status counts passed=0 failed=0
  shift 2
  mkdir -p "$scratch/$name" "$(dirname "$log")"
  TMPDIR="$scratch/$name" timeout --kill-after=10 "$seconds" "$@" >"$log" 2>&1 </dev/null
  status=$?
  rm -rf "${scratch:?}/$name"
  counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
  if [ -n "$counts" ]; then
    read -r passed _ failed _ <<<"$counts"
    [ $status -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
  elif [ $status -eq 0 ]; then
    passed=1
  else
    failed=1
  fi
  if [ "$failed" -gt 0 ]; then
    tail -n 100 "$log" | sed 's/^/  | /'
    [ $status -ne 124 ] || echo "  | stopped after $seconds s"
    echo "FAILED: $name: $failed failed, $passed passed, exit status $status ($log)"
  else
    echo "ok: $name: $passed passed, $((SECONDS - started)) s"
  fi
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
}

# Unit tests and scripts run with the sanitizers below: once more without them would cost four minutes of compiling. But
# for those that take a sample there and go through every case here.
begin release SANITIZE= test-programs
finish release
begin sanitizers SANITIZE=address unit-programs all build/asan/bin/sim
export ANTEROOM_BIN=$PWD/build/bin
# Ten million steps: 15 s on two cores.
part long 240 build/bin/long_tests
part sim 300 build/bin/sim --seeds 1000 --jobs "$jobs"
# lib*.sh is what several of them share.
for test in tests/e2e/*.sh; do
  [[ $test == */lib*.sh ]] || part "e2e/$(basename "$test" .sh)" 180 "$test"
done
for source in tests/e2e/*.cc; do
  program=build/bin/$(basename "$source" .cc)
  part "e2e/$(basename "$source" .cc)" 180 "$program"
done
for source in bench/*_bench.cc; do
  program=build/bin/$(basename "$source" .cc)
  part "bench/$(basename "$source" .cc)" 60 "$program" --benchmark_min_time=0.001
done

finish sanitizers
begin thread-sanitizer SANITIZE=thread build/tsan/bin/thread_tests
# The fuzzer's compiler is no part of what else is needed: where it cannot be had, only fuzzing is missing.
fuzzed=no
if tools/install_deps.sh fuzz; then
  fuzzed=yes
  begin fuzz SANITIZE=fuzz build/fuzz/bin/fuzzer
fi
export ANTEROOM_BIN=$PWD/build/asan/bin
part unit 300 build/asan/bin/unit_tests
part scripts 240 build/asan/bin/script_tests
# Each planted bug is found; the sanitized build is the one in which they can be planted.
# The rarest is found in one seed of sixty.
part sim-canaries 300 build/asan/bin/sim --canaries --seeds 800 --jobs "$jobs"
# The tests themselves as before; the daemon that they start is the sanitized one.
for name in daemon_test network_faults_test; do
  part "e2e/$name-sanitized" 180 "build/bin/$name"
done

finish thread-sanitizer
# Where the kernel spreads addresses over more bits than the TSan of g++ 12 can do with, it starts only without that;
# where that may not be asked for, it is tried as it is.
no_spread=()
! setarch --addr-no-randomize true 2>/dev/null || no_spread=(setarch --addr-no-randomize)
part threads-sanitized 300 "${no_spread[@]}" build/tsan/bin/thread_tests

if [ "$fuzzed" = yes ]; then
  finish fuzz
  part fuzz 240 tests/fuzz/run.sh 5
else
  echo "not fuzzed: there is no clang-19"
fi

echo
echo "$total_passed passed, $total_failed failed"
[ "$total_failed" -eq 0 ]
