#!/usr/bin/env bash
# The share of the branches of these folders that the unit tests and the scripts take; for `make coverage`, which has built
# them.
#
#   tests/coverage.sh protocol server/engine server/storage
#
# A template or an inline function counts once for the program in which more of it is taken.
set -u
cd "$(dirname "$0")/.." || exit 2

folder=build/coverage
tools=/usr/lib/llvm-19/bin
profiles=()
for program in unit_tests script_tests; do
  if ! LLVM_PROFILE_FILE=$folder/$program.profraw "$folder/bin/$program" >"$folder/$program.log" 2>&1; then
    tail -n 30 "$folder/$program.log"
    exit 1
  fi
  profiles+=("$folder/$program.profraw")
done
"$tools/llvm-profdata" merge -o "$folder/all.profdata" "${profiles[@]}" || exit 1
# What a CHECK guards only a bug can break: its branch is in server/base, not counted here.
mapfile -t sources < <(find "$@" \( -name '*.cc' -o -name '*.h' \) | sort)
"$tools/llvm-cov" report "$folder/bin/unit_tests" -object "$folder/bin/script_tests" \
  -instr-profile "$folder/all.profdata" -show-branch-summary \
  -show-region-summary=false -show-instantiation-summary=false "${sources[@]}"
