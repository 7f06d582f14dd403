#!/usr/bin/env bash
# What a real daemon makes of a data directory to which something happened: what a crash can leave is mended and said,
# all else is refused with the file and the place, and a refused directory is left as it is.
# ANTEROOM_SEED repeats a run.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

RANDOM=$((${ANTEROOM_SEED:-$$} % 32768))
echo "seed: repeat this run with ANTEROOM_SEED=$((${ANTEROOM_SEED:-$$} % 32768))"

contents() { (cd "$data" && md5sum ./*.log secrets); }
field() { cli --output json log check "$data" | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"; }
# set_byte FILE OFFSET VALUE; get_byte FILE OFFSET
set_byte() { printf "\\x$(printf %02x "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
get_byte() { od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' '; }
# rewind: the directory as the crash left it.
rewind() {
  rm -rf "$data"
  cp -r "$scratch/crashed" "$data"
}
# room: what the room holds, as JSON, without what the time of asking changes.
room() {
  for what in 'room show sale' 'inside sale' 'peek sale 0 1000'; do
    # shellcheck disable=SC2086 # these are words
    cli --output json $what
  done | sed -E 's/"(expires_in|poll_after|eta|eta_low|eta_high)_ms":[0-9]+,?//g'
}
# people: how many of those who joined last are waiting or inside.
people() { room | grep -c '"visitor":"waits-'; }
# refused WHAT PATTERN FLAG...: exit status 1, in these words, and nothing is changed.
refused() {
  local what=$1 pattern=$2 before
  shift 2
  before=$(contents)
  if start "$@"; then
    end_daemon KILL
    check "$what: is refused" false
    return
  fi
  check "$what: exit status 1" is "$daemon_status" 1
  check "$what: said in words" says "$scratch/log" "$pattern"
  check "$what: nothing is changed" is "$(contents)" "$before"
}

# --- a stop under load ---
check 'it starts' start --segment-bytes 8K
cli room create sale rate=400/s capacity=40 claim_ttl=1h session_ttl=1h remember_ttl=1h >/dev/null
cli rehearse "$source_dir/tests/data/nasa-launch-1995-07-13-requests-per-second.csv" --room sale --speed 100 --session 50ms \
  >"$scratch/rehearsed" 2>&1 &
crowd=$!
for _ in {1..200}; do
  cli --output json room show sale | grep -qE '"completed_total":[1-9][0-9]' && break
  sleep 0.05
done
stop_began=$SECONDS
end_daemon TERM
wait "$crowd"
check 'SIGTERM under load: exit status 0' is "$daemon_status" 0
check 'SIGTERM under load: within its limit' [ $((SECONDS - stop_began)) -le 8 ]
check 'SIGTERM under load: the log has its end' is "$(field clean_stop)" true
check 'SIGTERM under load: nothing is torn' is "$(field torn_end)" ''

# --- a crash, to begin each of the following with ---
check 'it starts again' start --segment-bytes 8K
check 'and does not speak of a torn end' is "$(grep -c torn "$scratch/log")" 0
# Long names fill segments, however few of the crowd came before the stop.
long_name=$(printf 'x%.0s' {1..200})
for i in {1..100}; do cli join sale "$long_name-$i"; done >/dev/null
for i in {1..40}; do cli join sale "waits-$i"; done >"$scratch/joined"
check 'people can join' is "$(grep -c 'waits-' "$scratch/joined")" 40
# So that what comes last, and garbage behind it, find room in the last segment.
used_bytes() { od -An -v -tx1 -w1 "$data/$(printf %08d "$(field segments)").log" | grep -n -v ' 00' | tail -n 1 | cut -d: -f1; }
for i in {1..40}; do
  [ "$(used_bytes)" -lt 6000 ] && break
  cli join sale "$long_name-more-$i" >/dev/null
done
cli --yes room set sale capacity=60 rate=none >/dev/null
room >"$scratch/room-at-crash"
end_daemon KILL
mv "$data" "$scratch/crashed"
rewind
segments=$(field segments)
records=$(field records)
check 'the crash left several segments' [ "$segments" -ge 3 ]
check 'and records' [ "${records:-0}" -ge 100 ]
last=$data/$(printf %08d "$segments").log
middle=$data/$(printf %08d $(((segments + 1) / 2))).log
first=$data/00000001.log

check 'after the crash all is there' start
room >"$scratch/room"
check 'after the crash all is as it was' cmp -s "$scratch/room" "$scratch/room-at-crash"
end_daemon KILL

# --- a torn end ---
# Where the last batch ends is where a torn end is said to begin when there is garbage somewhere behind it; the batch may
# itself end in zeros.
rewind
last_byte=$(od -An -v -tx1 -w1 "$last" | grep -n -v ' 00' | tail -n 1 | cut -d: -f1)
printf 'no batch, whatever the reader thinks of it' >"$scratch/garbage"
dd if="$scratch/garbage" of="$last" bs=1 seek=$((last_byte + 256)) conv=notrunc status=none
cli log check "$data" >"$scratch/checked"
check 'garbage far behind the last batch: log check says so' says "$scratch/checked" "torn end: $(basename "$last") at byte"
end=$(sed -n 's/.*torn end: .* at byte \([0-9]*\),.*/\1/p' "$scratch/checked")
check 'the torn end begins where the last batch ends' [ $((end - last_byte)) -ge 0 -a $((end - last_byte)) -le 64 ]
rewind
dd if="$scratch/garbage" of="$last" bs=1 seek="$end" conv=notrunc status=none
check 'garbage behind the last batch: it starts' start
check 'garbage behind the last batch: said' says "$scratch/log" "torn end: $(basename "$last") at byte $end"
room >"$scratch/room"
check 'garbage behind the last batch: nothing is lost' cmp -s "$scratch/room" "$scratch/room-at-crash"
end_daemon KILL
check 'garbage behind the last batch: gone the next time' start
check 'garbage behind the last batch: and not said again' is "$(grep -c torn "$scratch/log")" 0
end_daemon KILL

# Cut within the last batch, which alone may go: a setting that was changed, and its answer not waited for.
for cut in 1 9 17 33; do
  for how in shortened zeroed; do
    rewind
    if [ $how = shortened ]; then
      truncate -s $((end - cut)) "$last"
    else
      dd if=/dev/zero of="$last" bs=1 seek=$((end - cut)) count=$cut conv=notrunc status=none
    fi
    # Zeros that become zeros are no loss, so that it may not even be torn.
    what="the last $cut bytes $how"
    check "$what: it starts" start
    check "$what: everybody is there" is "$(people)" 40
    end_daemon KILL
    check "$what: whole afterwards" says <(cli log check "$data") 'is whole'
    check "$what: not torn any more" is "$(field torn_end)" ''
  done
done

# --- damage ---
for i in {1..12}; do
  rewind
  file=$first
  [ $((i % 2)) -eq 0 ] && file=$middle
  # The header now and then, else what was written.
  case $((i % 3)) in
    0) offset=$((RANDOM % 512)) ;;
    *) offset=$((512 + RANDOM % 7000)) ;;
  esac
  set_byte "$file" "$offset" $(($(get_byte "$file" "$offset") ^ (1 << (RANDOM % 8))))
  refused "a flipped bit at byte $offset of $(basename "$file")" "($(basename "$file") at byte [0-9]+|format version)"
done
rewind
set_byte "$last" 8 2
refused 'a newer format' "$(basename "$last") has format version 2.* 1"
rewind
set_byte "$first" 8 77
refused 'a much newer format' '00000001.log has format version 77.* 1'
rewind
rm "$middle"
refused 'a segment is missing' "missing|$(basename "$middle")"
rewind
rm "$first"
refused 'the first segment is missing' 'missing|00000001.log'
rewind
cp "$first" "$middle"
refused 'a segment is there twice' "$(basename "$middle")"
rewind
truncate -s 4096 "$first"
refused 'a segment is cut short' '00000001.log'
rewind
: >"$first"
refused 'an emptied segment' '00000001.log'

# --- secrets ---
rewind
rm "$data/secrets"
: >"$data/lock"
before=$(cd "$data" && md5sum ./*.log)
check 'secrets are missing: refused' eval '! start'
check 'secrets are missing: exit status 1' is "$daemon_status" 1
check 'secrets are missing: said' says "$scratch/log" secrets
check 'secrets are missing: no new ones' [ ! -e "$data/secrets" ]
check 'secrets are missing: the log is untouched' is "$(cd "$data" && md5sum ./*.log)" "$before"
rewind
: >"$data/secrets"
refused 'emptied secrets' secrets

# --- clocks, and who else is there ---
rewind
refused 'a real directory on a virtual clock' "real data, not a test's: start without --virtual-clock" --virtual-clock
rewind
echo 1 >"$data/lock"
check 'a lock file with the id of a process that lives: no obstacle' start
first_daemon=$daemon
first_log=$scratch/first-log
cp "$scratch/log" "$first_log"
if timeout 10 "$bin/anteroomd" --listen none --unix "$scratch/other" --data "$data" >"$scratch/second" 2>&1; then
  second_status=0
else
  second_status=$?
fi
check 'a second daemon: exit status 1' is "$second_status" 1
check 'a second daemon: names the first' says "$scratch/second" "process $first_daemon"
check 'a second daemon: leaves no socket' [ ! -e "$scratch/other" ]
check 'a second daemon: the first goes on' says <(cli ping) answers
end_daemon TERM
data=$scratch/test-data
check 'a virtual clock on an empty directory' start --virtual-clock
end_daemon TERM
refused 'a test directory on the real clock' 'for tests: start with --virtual-clock'

# --- directories that are none ---
data=$scratch/file/within
: >"$scratch/file"
check 'a directory below a file: refused' eval '! start'
check 'a directory below a file: exit status 1' is "$daemon_status" 1
check 'a directory below a file: named' says "$scratch/log" "$scratch/file"

# --- wrong usage ---
for wrong in --virtual-clock=maybe --durability=often --listen=0.0.0.0:1 --segment-bytes=1 --nosuch=1 --data; do
  timeout 10 "$bin/anteroomd" "$wrong" >"$scratch/usage" 2>&1
  check "$wrong: exit status 2" is $? 2
  check "$wrong: names the flag" says "$scratch/usage" "${wrong%%=*}"
done

# --- every flag is explained ---
"$bin/anteroomd" --help >"$scratch/help" 2>&1
check '--help: exit status 0' is $? 0
for flag in listen unix max-connections data segment-bytes durability durability-interval virtual-clock help version; do
  check "--help explains --$flag" says "$scratch/help" "^ +--$flag[ ,].*[a-z]{3}"
done

closing
