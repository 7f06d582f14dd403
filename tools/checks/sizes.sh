#!/usr/bin/env bash
# A file has one responsibility; past 600 lines it has two.
set -u
here=$(cd "$(dirname "$0")" && pwd)
"$here/sources.sh" '*.cc' '*.h' '*.sh' '*.pl' | tr '\n' '\0' | xargs -0 -r wc -l |
  awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines, more than 600"; status = 1 } END { exit status }'
