#!/usr/bin/env bash
# clang-format has nothing to change. `make format` mends it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
wrong=$("$here/sources.sh" '*.cc' '*.h' | tr '\n' '\0' |
  xargs -0 -r clang-format-14 --dry-run --ferror-limit=1 2>&1 |
  sed -n 's/^\([^: ]*\):\([0-9]*\):.*code should be clang-formatted.*/\1:\2: not in the format (make format)/p')
[ -z "$wrong" ] && exit 0
LC_ALL=C sort -u <<<"$wrong"
exit 1
