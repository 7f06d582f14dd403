#!/usr/bin/env bash
# Small rules of every source: header guards named after the path, nothing left unfinished, scripts that bash can read.
set -u
here=$(cd "$(dirname "$0")" && pwd)
status=0

complain() {
  echo "$1"
  status=1
}

while read -r header; do
  guard=ANTEROOM_$(tr '[:lower:]/.' '[:upper:]__' <<<"$header")_
  guard=${guard//-/_}
  grep -qx "#ifndef $guard" "$header" && grep -qx "#define $guard" "$header" ||
    complain "$header: the header guard is not $guard"
done < <("$here/sources.sh" '*.h')

words='TODO|FIX''ME|XX''X|HA''CK'
if found=$("$here/sources.sh" '*.cc' '*.h' '*.sh' '*.pl' Makefile | grep -v "^tools/checks/conventions.sh$" |
  tr '\n' '\0' | xargs -0 -r grep -nwE "$words" --); then
  complain "$found"
fi

while read -r script; do
  bash -n "$script" || complain "$script: bash cannot read it"
  [ -x "$script" ] || complain "$script: not executable"
done < <("$here/sources.sh" '*.sh')
exit $status
