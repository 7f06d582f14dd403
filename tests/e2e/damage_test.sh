#!/usr/bin/env bash
# Every byte of a small data directory, in steps, flipped, and its files cut at every place, in steps, as the real
# programs see it: `anteroom log check` names the file and the first bad byte with exit status 1, or says which torn end a
# start would cut off with 0, and then no record is missing but those of the last batch. The daemon agrees. Every single
# bit and place is gone through without processes in the unit tests (`storage_recovery`).
# ANTEROOM_SEED repeats a run.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

seed=$((${ANTEROOM_SEED:-$$} % 32768))
RANDOM=$seed
echo "seed: repeat this run with ANTEROOM_SEED=$seed"

set_byte() { printf "\\x$(printf %02x "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
# log_check: its exit status; what it says is then in $said.
log_check() { said=$("$bin/anteroom" --output json log check "$data" 2>&1 </dev/null); }
number() { [[ $said =~ \"$1\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }

check 'it starts' start --segment-bytes 4K
cli room create sale capacity=5 rate=none claim_ttl=1h session_ttl=1h >/dev/null
long=$(printf 'x%.0s' {1..200})
for i in {1..20}; do cli join sale "$long$i"; done >/dev/null
end_daemon KILL
cp -r "$data" "$scratch/whole"
check 'the log is whole' log_check
records=$(number records)
check 'it has two segments' is "$(number segments)" 2
# After this byte there is nothing any more.
read -r -d '' -a bytes < <(od -An -v -tu1 "$data/00000002.log")
end=${#bytes[@]}
while [ "${bytes[end - 1]}" -eq 0 ]; do end=$((end - 1)); done

# judged WHAT FILE OFFSET: something happened there, and what is said of it is right.
wrong=0
refused=0
torn=0
judged() {
  local what=$1 file=$2 offset=$3 named
  if log_check; then
    # Only the last segment's last batch may go, or what is after it; and if it does that is said.
    if [ "$(number records)" -ge $((records - 1)) ] && [ "$file" != 00000001.log ]; then
      [[ $said != *torn_end* ]] || torn=$((torn + 1))
      [[ $said == *torn_end* ]] || [ "$(number records)" = "$records" ] && return
    fi
  elif [ $? -eq 1 ]; then
    refused=$((refused + 1))
    # Named is the batch or the header in which the bad byte is: not after it, and less than a batch before.
    [[ $said =~ $file\ at\ byte\ ([0-9]+) ]] && named=${BASH_REMATCH[1]} &&
      [ "$named" -le "$offset" ] && [ $((offset - named)) -lt 512 ] && return
    [[ $said == *"$file"*'format version'* ]] && [ "$offset" -ge 8 ] && [ "$offset" -lt 12 ] && return
    # A segment that is shorter than it says is bad as a whole, or where it ends.
    [[ $what == cut* && $said == *"$file"* ]] && return
  fi
  wrong=$((wrong + 1))
  echo "  $what, $file at byte $offset: $said"
}
# Now and then the daemon is asked too.
agrees() {
  local could=1 what=$1
  log_check && could=0
  # With segments as small as the log's, or one closed segment would be enough for a snapshot, after a second.
  start --segment-bytes 4K
  check "$what: the daemon agrees" is $? $could
  end_daemon KILL
  [ $could -eq 0 ] || check "$what: and names the place" says "$scratch/log" '\.log'
}
restore() { cp "$scratch/whole/"*.log "$data"; }

step=127
for file in 00000001.log 00000002.log; do
  read -r -d '' -a bytes < <(od -An -v -tu1 "$data/$file")
  for ((offset = RANDOM % step; offset < 4096; offset += step)); do
    set_byte "$data/$file" "$offset" $((bytes[offset] ^ (1 << (RANDOM % 8))))
    judged 'a flipped bit' $file "$offset"
    [ $((offset / step % 8)) -ne 3 ] || agrees "a flipped bit, $file at byte $offset"
    restore
  done
  for ((size = RANDOM % step; size < 4096; size += step)); do
    truncate -s "$size" "$data/$file"
    # Of the last segment as much is lost as was behind the cut: it reads as torn, and that is said.
    if [ $file = 00000002.log ] && [ "$size" -lt "$end" ] && log_check; then
      torn=$((torn + 1))
      [[ $said == *torn_end* ]] || { wrong=$((wrong + 1)) && echo "  cut at $size: $said"; }
    else
      judged cut $file "$size"
    fi
    restore
  done
done
check 'what is said of every flipped bit and every cut is right' is $wrong 0
check 'many were refused' [ $refused -gt 40 ]
check 'some were torn ends' [ $torn -gt 3 ]
check 'the log is as before' log_check

closing
