#!/usr/bin/env bash
# Runs every check on the repository, quick ones first. Each counts as one; the last line is `N passed, N failed`.
# With names as arguments, only those: tools/checks/run.sh includes sizes
set -u
cd "$(dirname "$0")/../.." || exit 2

checks=("$@")
[ ${#checks[@]} -gt 0 ] || checks=(selftest conventions includes engine_bans sizes paths reachable format tidy)
passed=0
failed=0
for check in "${checks[@]}"; do
  if output=$(timeout --kill-after=10 1200 "tools/checks/$check.sh" 2>&1); then
    echo "ok: $check"
    passed=$((passed + 1))
  else
    echo "$output"
    echo "FAILED: $check"
    failed=$((failed + 1))
  fi
done
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
