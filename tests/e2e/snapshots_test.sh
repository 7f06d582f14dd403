#!/usr/bin/env bash
# Snapshots by the real daemon: the log stays small whatever happens, the past is in the archive, and a start from a
# snapshot gives what a start from the whole log gives.
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/e2e/lib_daemon.sh
source tests/e2e/lib_daemon.sh

archive=$scratch/archive
mkdir "$archive"
flags=(--segment-bytes 8K --snapshot-log-bytes 16K --archive "$archive" --durability none)

segments() { find "$1" -name '*.log' | wc -l; }
snapshots() { find "$1" -name '*.snap' | wc -l; }
digest() { cli log digest "$@"; }

# churn FROM TO: so many come, and most are sent away again.
churn() {
  local i
  for ((i = $1; i <= $2; ++i)); do
    cli join sale "visitor-number-$i" --lane $((200 + i % 3)) >/dev/null || return 1
    cli revoke sale "visitor-number-$((i - 40))" >/dev/null 2>&1
  done
}

# until_true SECONDS COMMAND...
until_true() {
  local tries=$(($1 * 10))
  shift
  for ((; tries > 0; --tries)); do
    "$@" && return 0
    sleep 0.1
  done
  return 1
}
few_segments() { [ "$(segments "$data")" -le 6 ] && [ "$(snapshots "$data")" -eq 1 ]; }

check "it starts with an archive" start "${flags[@]}"
check "a room" cli room create sale rate=none capacity=0 remember_ttl=1s
check "an old entry that stays" cli join sale the-first-of-all
# Each round is more log than may stay.
for round in 1 2; do
  check "round $round of coming and going" churn $((round * 120)) $((round * 120 + 119))
done
check "one snapshot, and little log" until_true 20 few_segments
check "no segment is lost on its way" [ "$(segments "$archive")" -gt 3 ]
check "the old entry is still first" [ "$(cli status sale the-first-of-all --output json | grep -c '"ahead":0')" -eq 1 ]

end_daemon TERM
check "it stops in good order" [ "$daemon_status" -eq 0 ]
before=$(digest "$data")
check "the directory is whole" cli log check "$data"
check "it names the snapshot" grep -q 'a snapshot of' <(cli log check "$data")
check "so is the archive" cli log check "$archive" --archive
check "without the flag it is told of it" grep -q 'say --archive' <(cli log check "$archive" 2>&1)
check "the archive begins at the beginning" [ "$(cli log dump "$archive" --archive | head -n 1 | grep -c room_create)" -eq 1 ]

# The whole past in one directory gives the same state as the snapshot and the rest.
mkdir "$scratch/whole"
cp "$archive"/*.log "$data"/*.log "$data/secrets" "$scratch/whole"
check "all segments together give the same state" [ "$(digest "$scratch/whole")" = "$before" ]

check "it starts again from the snapshot" start "${flags[@]}"
check "everybody is there" [ "$(cli status sale the-first-of-all --output json | grep -c '"ahead":0')" -eq 1 ]
end_daemon KILL
check "and after a kill" start "${flags[@]}"
end_daemon TERM
check "with nothing lost" [ "$(digest "$data")" != "" ]

# Any damage to the snapshot is refused, with its name.
snapshot=$(find "$data" -name '*.snap')
cp "$snapshot" "$scratch/right"
printf 'X' | dd of="$snapshot" bs=1 seek=700 conv=notrunc status=none
check_refused() { ! start "${flags[@]}" && grep -q "$(basename "$snapshot") at byte" "$scratch/log"; }
check "a damaged snapshot is refused and named" check_refused
check "log check says the same" grep -q "$(basename "$snapshot") at byte" <(cli log check "$data" 2>&1)
cp "$scratch/right" "$snapshot"
check "the right one is taken" start "${flags[@]}"
end_daemon TERM

# Reading that takes longer than a second is said.
check "a quick start says nothing of reading" eval '! says "$scratch/log" reading'
snapshot=$(find "$data" -name '*.snap')
if strace -e trace=none true 2>/dev/null; then
  under=(strace -D -f -o "$scratch/trace" -P "$snapshot" -e trace=pread64 -e inject=pread64:delay_enter=1200000:when=1)
  check "from a slow disk it starts" start "${flags[@]}"
  under=()
  check "and says how far it has come" says "$scratch/log" '^anteroomd: reading, [1-9][0-9]* entries of the snapshot and [0-9]+ records so far'
  check "and when it has read all" says "$scratch/log" '^anteroomd: read all, [0-9]+ records'
  end_daemon KILL
else
  echo "left out, for strace cannot look at a process here: what a slow start says"
fi

# All of it in one file, from a daemon that runs; and then moved for good.
check "it runs again" start "${flags[@]}"
check "a backup beside the daemon" cli backup "$scratch/backup" --data "$data"
check "none is put in the daemon's way" grep -q 'in the data directory' <(cli backup "$data/00000099.snap" --data "$data" 2>&1)
check "only its owner can read it" [ "$(stat -c %a "$scratch/backup")" = 600 ]
check "a running daemon is not moved" grep -q 'in_use' <(cli backup "$scratch/moved" --data "$data" --move 2>&1)
end_daemon TERM
check "a stopped one is" cli backup "$scratch/moved" --data "$data" --move
refused_as_moved() { ! start "${flags[@]}" && grep -q 'goes on elsewhere, as epoch 1' "$scratch/log"; }
check "and never starts there again" refused_as_moved
old=$data
data=$scratch/new
check "a directory of the backup" cli restore "$scratch/moved" --data "$data"
check "with the same state" [ "$(digest "$data")" = "$(digest "$old")" ]
printf 'X' | dd of="$scratch/backup" bs=1 seek=700 conv=notrunc status=none
check "a damaged backup is refused" eval '! cli restore "$scratch/backup" --data "$scratch/none" 2>/dev/null'
never_anew() { data=$scratch/none && ! start && says "$scratch/log" 'restore the backup into it once more' && data=$scratch/new; }
check "and no daemon begins anew there" never_anew
check "it goes on there" start "${flags[@]}"
check "with everybody" [ "$(cli status sale the-first-of-all --output json | grep -c '"ahead":0')" -eq 1 ]
end_daemon TERM

# Of another data directory the archive takes nothing, and loses nothing; the daemon goes on without it.
data=$scratch/second
first_archived=$(sha256sum "$archive/00000001.log")
check "another directory with the same archive" start "${flags[@]}"
check "a room there" cli room create sale rate=none capacity=0 remember_ttl=1s
check "much there" churn 1 200
said_taken() { grep -q '00000001.log is there already' "$scratch/log"; }
check "it says that the name is taken" until_true 20 said_taken
check "health says so" says <(cli --output json health) '"snapshots":"log_stays"'
check "it serves" cli join sale one-more
end_daemon TERM
check "it starts all the same" start "${flags[@]}"
check "with everybody there" cli status sale one-more
check "it says it again" until_true 20 said_taken
end_daemon TERM
check "it has kept its own" [ -f "$data/00000001.log" ]
check "and what was there is as it was" [ "$(sha256sum "$archive/00000001.log")" = "$first_archived" ]
refused_archive() { ! start --archive "$1" && grep -q "$2" "$scratch/log"; }
check "its own directory is no archive" refused_archive "$data" 'is a data directory'
check "nor is another's" refused_archive "$old" 'is a data directory'
check "nor what is not there" refused_archive "$scratch/nowhere" 'a directory that is there'

check "a size is a size" grep -q 'snapshot-log-bytes' <("$bin/anteroomd" --snapshot-log-bytes many 2>&1)
check "to keep needs an archive" grep -q 'without --archive' <("$bin/anteroomd" --archive-keep 30d 2>&1)

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
