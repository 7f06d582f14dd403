#!/usr/bin/env bash
# Rooms as a file, against a real daemon: what apply says and does, that it writes no record when nothing differs, and
# that an export is the same rooms.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/e2e/lib_daemon.sh
. "$here/lib_daemon.sh"

out=$scratch/out
err=$scratch/err
rooms=$scratch/rooms.toml

# run STATUS WORDS...: the CLI, what it says kept in $out and $err; whether it ends with that status.
run() {
  local status=$1 got
  shift
  cli "$@" >"$out" 2>"$err"
  got=$?
  is "$got" "$status" || { cat "$out" "$err" && false; }
}
records() { timeout 60 "$bin/anteroom" log dump "$data" | grep -c '"room_'; }

check 'a daemon' start
cat >"$rooms" <<'END'
[defaults]
claim_ttl = "2m"

[rooms.concert]
rate = "50/s"
capacity = 500

[rooms."concert.vip"]
rate = "5/s"
claim_ttl = "10m"
END

check 'a dry run shows' run 0 apply "$rooms" --dry-run
check 'the rooms to create' says "$out" '^create concert +rate=50/s capacity=500 claim_ttl=2m$'
check 'and creates none' is "$(cli export)" '[rooms]'
check 'without a terminal it takes --yes' run 2 apply "$rooms"
check 'it says so' says "$err" '--yes'
check 'with it the rooms are created' run 0 apply "$rooms" --yes
check 'and counted' says "$out" '^2 created, 0 changed, 0 deleted$'
check 'the defaults hold' is "$(cli --output json room show concert | grep -o '"claim_ttl":"2m"')" '"claim_ttl":"2m"'

before=$(records)
check 'twice' run 0 apply "$rooms" --yes
check 'there is nothing to change' says "$out" '^nothing to change; 2 unchanged$'
check 'export' run 0 export
cp "$out" "$scratch/exported.toml"
check 'an export applied' run 0 apply "$scratch/exported.toml" --yes --prune
check 'changes nothing' says "$out" '^nothing to change; 2 unchanged$'
check 'and no record is written' is "$(records)" "$before"
check 'the export is by name, dots in quotes' is "$(cat "$scratch/exported.toml")" '[rooms.concert]
rate = "50/s"
capacity = 500
claim_ttl = "2m"

[rooms."concert.vip"]
rate = "5/s"
claim_ttl = "10m"'

sed -i 's|50/s|80/s|; /^\[rooms."concert.vip"\]/,$d' "$rooms"
cli room create busy rate=1/s >/dev/null
cli join busy ann >/dev/null
check 'a change in JSON' run 0 --output json apply "$rooms" --dry-run --prune
check 'before and after' says "$out" '"settings":\{"rate":\{"before":"50/s","after":"80/s"\}\}'
check 'what would be deleted' says "$out" '"delete":\["concert.vip"\],"not_empty":\{"busy":1\}'
check 'rooms that are not named are left alone' run 0 apply "$rooms" --yes
check 'and counted' says "$out" '2 not in the file, left alone'
check 'the change is told' says "$out" '^change concert +rate 50/s -> 80/s$'
check 'pruned' run 0 apply "$rooms" --yes --prune
check 'those with people stay' says "$out" '^keep busy +1 person is in it$'
check 'the empty one is gone' run 1 room show concert.vip
check 'the other is there' run 0 room show busy

cli room set concert mode=paused >/dev/null
check 'a paused room' run 0 apply "$rooms" --yes
check 'stays paused unless the file says' says "$out" '^keep concert +mode paused'

cli room create tickets stock=200 >/dev/null
check 'a room with a stock alone is exported' run 0 export tickets
cp "$out" "$scratch/tickets.toml"
check 'as that' says "$out" '^stock = 200$'
check 'and applied' run 0 apply "$scratch/tickets.toml" --yes
check 'without a change' says "$out" '^nothing to change; 1 unchanged'
check 'it is deleted' run 0 room delete tickets --yes
check 'and made of the file' run 0 apply "$scratch/tickets.toml" --yes
check 'with its stock' says <(cli --output json room show tickets) '"stock":"200"'

cat >"$rooms" <<'END'
[rooms.concert]
rte = "50/s"
capacity = "many"
[rooms.other.vip]
rate = "5/s"
END
check 'a wrong file' run 2 apply "$rooms" --yes
check 'the nearest name, with the line' says "$err" 'rooms.toml:2: there is no setting "rte", did you mean rate\?'
check 'and all else' says "$err" 'rooms.toml:3: capacity is "many"'
check 'a dot without quotes' says "$err" 'rooms.toml:4: .*\[rooms."other.vip"\]'
check 'nothing was changed' run 1 room show other

end_daemon TERM
check 'no daemon' run 3 export
closing
