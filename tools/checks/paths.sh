#!/usr/bin/env bash
# No file refers to a folder of the machine it was written on, or to something outside the repository.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# Made of pieces so that this file passes itself.
folders='(home|root|work|Users|mnt)'
found=$("$here/sources.sh" '*' | grep -v '^tests/data/' | tr '\n' '\0' |
  xargs -0 -r grep -nIE "(^|[^[:alnum:]_.~})/*-])/$folders/[[:alnum:]_.]|\.\./(\.\./)*shared[/]" --) || exit 0
echo "$found"
exit 1
