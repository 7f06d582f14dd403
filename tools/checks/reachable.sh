#!/usr/bin/env bash
# Every .cc is built by some target of the Makefile: nothing lies about unused.
set -u
here=$(cd "$(dirname "$0")" && pwd)
lost=$(LC_ALL=C comm -23 <("$here/sources.sh" '*.cc') \
  <(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory print-sources | LC_ALL=C sort -u))
[ -z "$lost" ] && exit 0
sed 's|$|: no target builds it|' <<<"$lost"
exit 1
