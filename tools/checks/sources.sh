#!/usr/bin/env bash
# Lists the project's files that match any of the given name patterns, one a line, relative to the current folder:
#   tools/checks/sources.sh '*.cc' '*.h'
set -u
names=()
for pattern in "$@"; do
  names+=(${names[@]+-o} -name "$pattern")
done
find . \( -path ./build -o -path ./.git -o -path ./anteroom-data \) -prune -o -type f \( "${names[@]}" \) -print |
  sed 's|^\./||' | LC_ALL=C sort
