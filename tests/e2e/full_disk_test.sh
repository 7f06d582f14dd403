#!/usr/bin/env bash
# A real daemon on a real file system, a tmpfs of its own, that fills up under it and gets room again: newcomers are
# refused as `disk_full` while claims, finishes and leaves go on; then time stands still; then all goes on by itself. A
# kill on the full disk loses nothing. The tmpfs is in a mount namespace of this test's, and ends with it.
set -u
if [ -z "${ANTEROOM_TMPFS:-}" ]; then
  as_root=
  [ "$(id -u)" = 0 ] || as_root=--map-root-user
  # shellcheck disable=SC2086 # no word when it is empty
  if unshare $as_root --mount true 2>/dev/null; then
    ANTEROOM_TMPFS=$(mktemp -d) || exit 1
    export ANTEROOM_TMPFS
    # shellcheck disable=SC2086,SC2016
    unshare $as_root --mount bash -c 'mount -t tmpfs -o size=256k,mode=700 none "$ANTEROOM_TMPFS" || exit 77; exec bash "$0"' "$0"
    status=$?
    rmdir "$ANTEROOM_TMPFS"
    [ $status -eq 77 ] || exit $status
  fi
  echo 'left out: neither root nor in a namespace of its own may this user mount a tmpfs'
  echo '0 passed, 0 failed'
  exit
fi
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"
data=$ANTEROOM_TMPFS/data

launch() {
  "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$data" --segment-bytes 8K >"$scratch/log" 2>&1 &
  daemon=$!
}
# json WORDS...: what the CLI says as JSON is then in $said; its exit status.
json() {
  local status
  said=$(cli --output json "$@" 2>&1)
  status=$?
  return $status
}
# told PATTERN WORDS...: json, and it says so.
told() {
  local pattern=$1
  shift
  json "$@"
  [[ $said =~ $pattern ]] || { echo "  anteroom $*: $said" && false; }
}
health() { json health && sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" <<<"$said"; }
fill() { dd if=/dev/zero of="$ANTEROOM_TMPFS/filler" bs=4k status=none 2>/dev/null; }
is_full() { ! dd if=/dev/zero of="$ANTEROOM_TMPFS/probe" bs=4k count=1 status=none 2>/dev/null; }

check 'it starts' start
cli room create sale capacity=2 rate=none claim_ttl=1h session_ttl=1h >/dev/null
json join sale ann
json join sale bob
token=$(sed -n 's/.*"token":"\([^"]*\)".*/\1/p' <<<"$said")
check 'two are let in' [ -n "$token" ]
long=$(printf 'x%.0s' {1..240})
for name in carl dora emma; do check "$name waits" told '"state":"waiting"' join sale $name; done

fill
check 'the disk is full' is_full
turned_away=
for i in {1..100}; do
  json join sale "$long$i" || { turned_away=1 && break; }
  last=$i
done
check 'newcomers are refused' [ -n "$turned_away" ]
check 'as disk_full' [ -n "$(grep -o disk_full <<<"$said")" ]
check 'and more than one was not' [ "${last:-0}" -gt 5 ]
check 'said by the daemon' says "$scratch/log" 'no space for the log: reserve space for .*[0-9]{8}.log'
check 'who waits keeps the place' told '"position":1,' join sale carl
check 'a claim goes on' told '"state":"active"' claim sale bob "$token"
check 'a finish goes on' told '"state":"ended"' finish sale bob "$token" --completed
check 'and the next is let in' told '"state":"admitted"' status sale carl
check 'people leave' told left leave sale emma
check 'health says so' told disk_full health

check 'a kill on the full disk' end_daemon KILL
check 'it starts on the full disk' start
check 'the others are still there' told '"state":"waiting"' status sale dora
check 'those told before too' told '"state":"waiting"' status sale "$long$last"
check 'and who is inside' told '"state":"admitted"' status sale carl
for _ in {1..60}; do
  json join sale newcomer || break
  json leave sale newcomer
done
check 'newcomers are refused again' [ -n "$(grep -o disk_full <<<"$said")" ]

stopped=
for i in {1..300}; do
  json room set sale "max_waiting=$((1000 + i))" --yes || { stopped=1 && break; }
done
check 'the reserve used up: nothing may change' [ -n "$stopped" ]
stood=$(health at_ms)
pause 0.3
check 'time stands still' is "$(health at_ms)" "$stood"
check 'who is inside is answered' told '"state":"admitted"' status sale carl

rm "$ANTEROOM_TMPFS/filler"
joined=
for _ in {1..200}; do
  json join sale late && { joined=1 && break; }
  pause 0.1
done
check 'with room again newcomers are taken' [ -n "$joined" ]
check 'time goes on' [ "$(health at_ms)" -gt "$stood" ]
check 'health is well' told '"status":"ok"' health
check 'said by the daemon, too' says "$scratch/log" 'space for the log again'
end_daemon KILL
check 'after a kill it starts' start
check 'nobody was lost' told '"state":"waiting"' status sale late
end_daemon TERM
check 'it stops in good order' is "$daemon_status" 0
check 'the log is whole' says <(cli log check "$data") 'is whole'

rm -r "$data"
fill
check 'on a full disk none is begun' eval '! start'
check 'on a full disk none is begun: exit status 1' is "$daemon_status" 1
check 'on a full disk none is begun: said' says "$scratch/log" 'No space left'
rm "$ANTEROOM_TMPFS/filler"
check 'with room one is' start
end_daemon TERM

closing
