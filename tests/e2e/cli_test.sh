#!/usr/bin/env bash
# The CLI against a real daemon on the virtual clock: every command, in text and JSON, every exit status.
set -u
bin=${ANTEROOM_BIN:-build/bin}
scratch=$(mktemp -d)
export ANTEROOM_SERVER=unix:$scratch/socket
passed=0
failed=0
daemon=

start_daemon() {
  "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$scratch/data" --virtual-clock 2>"$scratch/daemon.log" &
  daemon=$!
  for _ in $(seq 200); do
    grep -q listening "$scratch/daemon.log" && return 0
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.05
  done
  cat "$scratch/daemon.log"
  echo "the daemon does not start"
  exit 1
}

stop_daemon() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null
  wait "$daemon" 2>/dev/null
  daemon=
}
trap 'stop_daemon; rm -rf "$scratch"' EXIT

# expect STATUS PATTERN WORDS...: runs the CLI; its status, and what it says on either stream (an extended regular
# expression over all of it) must be these. Standard input is no terminal.
expect() {
  local status=$1 pattern=$2 got
  shift 2
  timeout 60 "$bin/anteroom" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  got=$?
  if [ $got -eq "$status" ] && { cat "$scratch/out" "$scratch/err"; echo; } | tr '\n' '~' | grep -qE -- "$pattern"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: anteroom $*"
    echo "  wanted status $status and /$pattern/, got status $got and:"
    sed 's/^/  | /' "$scratch/out" "$scratch/err"
  fi
}

# The same in JSON, where the pattern must be on standard output.
expect_json() {
  local status=$1 pattern=$2
  shift 2
  expect "$status" '' --output json "$@"
  if tr '\n' '~' <"$scratch/out" | grep -qE -- "$pattern"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "failed: no /$pattern/ on standard output of: anteroom --output json $*"
    sed 's/^/  | /' "$scratch/out" "$scratch/err"
  fi
}

value_of() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$scratch/out"; }

# --- no daemon ---
seconds=$SECONDS
expect 3 'unavailable.*anteroomd' ping
expect 3 'unavailable' --server 127.0.0.1:1 ping
expect_json 3 '"error":"unavailable"' watch concert
[ $((SECONDS - seconds)) -le 6 ] && passed=$((passed + 1)) || { echo "failed: a missing daemon is told late"; failed=$((failed + 1)); }
expect 2 'did you mean join' jion concert ann
expect 2 'did you mean capacity' room create concert capcity=5
expect 2 'HOST:PORT' --server nowhere ping

start_daemon

# --- the daemon ---
expect 0 'answers' ping
expect_json 0 '^\{"at_ms":[0-9]+\}~$' ping
expect 0 'durability +commit' health
expect_json 0 '"virtual_clock":true' health

# --- rooms ---
expect_json 1 '"error":"invalid"' room create concert
expect 0 'capacity +2' room create concert rate=none capacity=2 claim_ttl=5m
expect_json 1 '"error":"conflict"' room create concert rate=1/s
expect_json 0 '^\{"room":"concert","revision":1,"mode":"queue","rate":"none".*"capacity":"2","claim_ttl":"5m".*"waiting":0' room show concert
expect_json 1 '"error":"not_found","message":".*","retry":false' room show nowhere
expect 1 'not_found: ' room show nowhere
expect 0 'capacity +3' room set concert capacity=3
expect_json 1 '"error":"conflict"' room set concert capacity=4 --if-revision 1
expect_json 0 '"capacity":"2"' room set concert capacity=2 --if-revision 2
expect 0 'there is|concert' room list
expect_json 0 '^\{"room":"concert",.*\}~$' room list

# --- visitors ---
expect_json 0 '^\{"state":"admitted",.*"token":"[A-Za-z0-9_-]{22}"' join concert ann
token=$(value_of token)
expect 0 'bob is admitted: token' join concert bob
expect_json 0 '"state":"waiting","position":1,"ahead":0,"waiting":1' join concert carl
expect 0 'dora is waiting: 1 ahead, 2 in line' join concert dora
expect_json 0 '"state":"waiting"' join concert 'od\xffd\x1b\\'
expect 0 'od\\xffd\\x1b\\\\ is waiting' status concert 'od\xffd\x1b\\'
expect_json 0 '"state":"waiting"' join concert -- -dash
expect 0 '-dash is waiting' status concert -- -dash
expect_json 1 '"error":"not_found"' status concert nobody
expect_json 0 '"state":"admitted"' verify concert ann "$token"
expect_json 1 '"error":"bad_token"' verify concert bob "$token"
expect_json 1 '"error":"bad_token"' verify concert ann -abcdefghijklmnopqrstu
expect_json 1 '"error":"conflict"' touch concert ann "$token"
expect_json 0 '"state":"active"' claim concert ann "$token"
expect_json 0 '"state":"active"' touch concert ann "$token"
expect_json 1 '"error":"conflict"' leave concert ann
expect_json 0 '"state":"ended".*"reason":"completed"' finish concert ann "$token" --completed
expect_json 0 '"reason":"completed"' finish concert ann "$token" --cancelled
expect_json 0 '"state":"ended".*"reason":"left"' leave concert dora
expect_json 0 '"state":"(active|waiting)"' enter concert eve --lane 0

# --- who is there ---
expect_json 0 '^\{"visitor":"eve","lane":0,"state":"waiting".*"ahead":0.*\}~\{"visitor":"od.*\}~\{"visitor":"-dash".*\}~$' peek concert 0 10
expect_json 0 '^\{"visitor":"od[^~]*\}~$' peek concert 1 1
expect 0 'ahead +lane +visitor~0 +0 +eve' peek concert 0 1
expect 0 'nobody' peek concert 100 5
expect_json 0 '^\{"visitor":"bob".*"admission":2.*\}~\{"visitor":"carl".*"admission":3.*\}~$' inside concert
expect_json 0 '^\{"visitor":"carl"[^~]*\}~$' inside concert 3 1

# --- by hand ---
expect_json 1 '"error":"no_slot"' admit concert --visitor frank
expect_json 0 '"state":"admitted".*"token"' admit concert --visitor frank --over
expect_json 0 '^\{"count":0,"admitted":\[\]\}' admit concert 2
expect_json 0 '"state":"ended".*"reason":"revoked"' revoke concert frank --block 1h
expect_json 1 '"error":"blocked".*"retry":true,"retry_after_ms":3600000' join concert frank
expect 1 'blocked: .*try again in 1 h' join concert frank
expect 0 'room +concert' room set concert capacity=4
expect 0 '.*' room set concert mode=paused capacity=6
expect_json 0 '"reason":"paused"' join concert gus
expect_json 0 '"reason":"paused"' join concert hanna
expect_json 0 '^\{"count":1,"first_admission":[0-9]+,"admitted":\[\{"visitor":"-dash","admission":[0-9]+,"token":"[^"]{22}"\}\]\}' admit concert 1 --key k1
cp "$scratch/out" "$scratch/first"
expect_json 0 '"-dash"' admit concert 1 --key k1
cmp -s "$scratch/out" "$scratch/first" && passed=$((passed + 1)) || { echo "failed: the same key lets in others"; failed=$((failed + 1)); }
expect_json 1 '"error":"invalid"' admit concert 2 --key k1

# --- great harm asks ---
expect 2 'before +after.*2 people waiting.*--yes' room set concert mode=passthrough
expect 0 '"?mode"? +passthrough' room set concert mode=passthrough --yes
expect 0 '.*' room set concert rate=10/s mode=queue
expect 2 '10/s +21/s.*--yes' room set concert rate=21/s
expect 2 '10/s +none.*--yes' room set concert rate=none
expect 0 'rate +20/s' room set concert rate=20/s
expect 2 'before +after.*--yes' room reset concert
expect 2 'before +after.*--yes' room delete concert --force
expect_json 1 '"error":"conflict"' room delete concert --yes
expect_json 1 '"error":"not_found"' room reset nowhere

# --- time ---
expect_json 0 '^\{"at_ms":300000\}' clock advance 5m
expect_json 0 '"no_show_total":[1-9]' stats concert
expect_json 0 '"rooms":1,' stats
expect 0 'no show total +[1-9]' stats concert
expect_json 1 '"error":"expired".*"reason":"completed"' verify concert ann "$token"

# --- watches ---
expect_json 0 '^\{"room":"concert",.*"waiting":[0-9]+' watch concert --count 1
expect_json 1 '^\{"visitor":"ivan","error":"not_found"[^~]*\}~$' watch concert ivan
expect 1 'not_found' watch concert ivan
expect_json 1 '"error":"not_found"' watch nowhere
expect 0 '^~$' watch concert ivan --for 0s
expect 0 '.*' room set concert mode=paused
expect_json 0 '"state":"waiting"' join concert judy
"$bin/anteroom" --output json watch concert judy >"$scratch/watched" 2>&1 </dev/null &
watcher=$!
for _ in $(seq 200); do [ -s "$scratch/watched" ] && break; sleep 0.05; done
expect_json 0 '"state":"ended"' leave concert judy
# It ends by itself when everybody who is watched has ended.
if wait "$watcher" && tail -n 1 "$scratch/watched" | grep -qE '^\{"visitor":"judy","state":"ended","reason":"left"'; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "failed: a watch tells what happens, to the end"
  sed 's/^/  | /' "$scratch/watched"
fi
"$bin/anteroom" watch concert >"$scratch/watched" 2>&1 </dev/null &
watcher=$!
for _ in $(seq 200); do [ -s "$scratch/watched" ] && break; sleep 0.05; done
kill -INT "$watcher"
wait "$watcher" && passed=$((passed + 1)) || { echo "failed: Ctrl-C ends a watch in good order"; failed=$((failed + 1)); }

# Of a room: counts, and what happens to anybody there, in a form that steers no terminal.
"$bin/anteroom" --output json watch concert --count 4 >"$scratch/watched" 2>&1 </dev/null &
watcher=$!
for _ in $(seq 200); do [ -s "$scratch/watched" ] && break; sleep 0.05; done
expect_json 0 '"state":"waiting"' join concert "$(printf 'kim\033[2J')"
expect_json 0 '"state":"ended"' leave concert "$(printf 'kim\033[2J')"
wait "$watcher" && grep -v '"revision"' "$scratch/watched" | tr '\n' '~' |
  grep -qE '^\{"room":"concert","visitor":"kim\\\\x1b\[2J","state":"waiting","arrival":[0-9]+,"lane":128,"at_ms":[0-9]+\}~\{"room":"concert","visitor":"kim\\\\x1b\[2J","state":"ended","reason":"left","at_ms":[0-9]+\}~$' &&
  passed=$((passed + 1)) || { failed=$((failed + 1)); echo "failed: a watch of a room tells events"; sed 's/^/  | /' "$scratch/watched"; }
"$bin/anteroom" watch concert --count 2 >"$scratch/watched" 2>&1 </dev/null &
watcher=$!
for _ in $(seq 200); do [ -s "$scratch/watched" ] && break; sleep 0.05; done
expect_json 0 '"state":"waiting"' join concert "$(printf 'kim\033[2J')"
wait "$watcher" && tail -n 1 "$scratch/watched" | grep -qE '  kim\\x1b\[2J is waiting: lane 128, arrival [0-9]+$' &&
  passed=$((passed + 1)) || { failed=$((failed + 1)); echo "failed: a watch of a room tells events in words"; sed 's/^/  | /' "$scratch/watched"; }

# --- stock ---
expect 0 'stock +2' room create tickets stock=2 stock_oversubscribe=1.5
expect_json 0 '"state":"active"' enter tickets buyer
buyer=$(value_of token)
expect_json 0 '"state":"active"' enter tickets second
second=$(value_of token)
expect_json 0 '"state":"active"' enter tickets third
expect_json 0 '"state":"waiting"' join tickets fourth
expect 2 'units is .*, it takes a whole number' finish tickets buyer "$buyer" --completed --units many
expect 1 'invalid: units' finish tickets buyer "$buyer" --units 2
expect_json 0 '"reason":"completed"' finish tickets buyer "$buyer" --completed --units 2
expect 0 'fourth is waiting: .*sold out' status tickets fourth
expect 1 'sold_out' join tickets fifth
expect_json 0 '"reason":"completed"' finish tickets second "$second" --completed
expect 0 '2 units sold, 1 units oversold' room show tickets
expect_json 0 '"stock":"0".*"sold_units_total":2,"oversold_units_total":1' room show tickets
expect 1 'only 0 units are left' room set tickets stock=-1
expect 0 'stock +3' room set tickets stock=+3
expect_json 0 '"state":"admitted"' status tickets fourth
expect 2 'stock is .*, it takes units left' room set tickets stock=some

# --- the connection is lost ---
"$bin/anteroom" watch concert >"$scratch/watched" 2>&1 </dev/null &
watcher=$!
for _ in $(seq 200); do [ -s "$scratch/watched" ] && break; sleep 0.05; done
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
wait "$watcher"
[ $? -eq 3 ] && passed=$((passed + 1)) || { echo "failed: a watch without a daemon ends with status 3"; failed=$((failed + 1)); }

# --- the log of the daemon that was killed, and of the one that stopped ---
expect_json 0 '^\{"records":[1-9][0-9]*,.*"clean_stop":false,"virtual_clock":true' log check "$scratch/data"
expect 0 '^\{"sequence":1,"at_ms":0,"type":"room_create","room":"concert".*"type":"join","room":"concert","room_number":1,"visitor":"ann","lane":128\}' log dump "$scratch/data"
start_daemon
expect_json 0 '^\{"room":"concert"' room reset concert --yes
expect_json 0 '^\{"room":"concert"\}~$' room delete concert --yes
stop_daemon
expect_json 0 '"clean_stop":true' log check "$scratch/data"
expect 0 'is whole' log check "$scratch/data"
printf '\xff' | dd of="$scratch/data/00000001.log" bs=1 seek=560 conv=notrunc 2>/dev/null
expect_json 1 '"error":"damaged","message":"00000001.log at byte 512' log check "$scratch/data"
expect_json 1 '"error":"not_found"' log check "$scratch/nowhere"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
