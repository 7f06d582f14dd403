#!/usr/bin/env bash
# Credentials as an operator meets them: made by the CLI, asked for by the daemon, told apart by role, in the log by name,
# and their secrets nowhere to be seen.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"
umask 077
unset ANTEROOM_CREDENTIALS

# run STATUS PATTERN WORDS...: the CLI's exit status and what it says on either stream.
run() {
  local status=$1 pattern=$2 got
  shift 2
  cli "$@" >"$scratch/said" 2>&1
  got=$?
  [ $got -eq "$status" ] && grep -qE -- "$pattern" "$scratch/said" && return 0
  echo "  anteroom $*: status $got, and:"
  sed 's/^/  | /' "$scratch/said"
  return 1
}

# --- made ---
for one in anna:operator shop-1:app grafana:reader; do
  cli credentials new "${one%:*}" "${one#*:}" >"$scratch/${one%:*}"
  cat "$scratch/${one%:*}" >>"$scratch/credentials"
done
check 'a line is made' says "$scratch/anna" '^anna operator [A-Za-z0-9_-]{43}$'
check 'no two secrets are alike' is "$(cut -d' ' -f3 "$scratch/credentials" | sort -u | wc -l)" 3
check 'also as JSON' says <(cli --output json credentials new b reader) '^\{"name":"b","role":"reader","secret":"[A-Za-z0-9_-]{43}"\}$'
check 'a role that is none' run 2 'reader, app or operator' credentials new b boss

# --- asked for ---
check 'it starts' start --credentials "$scratch/credentials" --virtual-clock
check 'without credentials: refused' run 1 'unauthorized.*|ANTEROOM_CREDENTIALS' health
check 'and told how' says "$scratch/said" 'ANTEROOM_CREDENTIALS'
check 'in JSON' run 1 '"error":"unauthorized".*"retry":false' --output json room list
check 'a ping is answered' run 0 answers ping
anna() { run "$1" "$2" --credentials "$scratch/anna" "${@:3}"; }
check 'an operator makes a room' anna 0 'capacity +2' room create sale capacity=2
export ANTEROOM_CREDENTIALS=$scratch/shop-1
check 'an app joins' run 0 'ann is admitted' join sale ann
check 'an app makes no room' run 1 'room_create takes the role operator; shop-1 is app' room create other capacity=1
check 'an app does not finish without a token' run 1 'without a token takes the role operator' finish sale ann
check 'an operator does' anna 0 'ann has ended' finish sale ann --completed
check 'an app does not rotate the key' run 1 'rotate_token_key takes the role operator; shop-1 is app' tokens rotate
check 'an operator may' anna 0 'new key' tokens rotate
check 'the option goes before the environment' run 1 'join takes the role app; grafana is reader' --credentials "$scratch/grafana" join sale bob
check 'a reader looks' run 0 'capacity' --credentials "$scratch/grafana" room show sale
check 'a reader watches' run 0 '"room":"sale"' --credentials "$scratch/grafana" --output json watch sale --count 1
for i in 1 2 3; do printf '127.0.0.%d - - [01/Aug/1995:00:00:0%d -0400] "GET / HTTP/1.0" 200 1\n' $i $i; done >"$scratch/access.log"
end_daemon TERM

# --- what does not fit ---
check 'it starts again, on the real clock' eval 'data=$scratch/real; start --credentials "$scratch/credentials"'
check 'an operator makes a room to rehearse in' anna 0 room room create launch rate=100/s capacity=10
check 'an app rehearses' run 0 '3' rehearse "$scratch/access.log" --room launch --speed 60 --session 100ms
cli credentials new shop-1 app >"$scratch/other"
check 'another secret: refused' run 1 'unauthorized: .*the name or the secret is wrong' --credentials "$scratch/other" join sale bob
cli credentials new nobody app >"$scratch/nobody"
check 'another name: the same words' run 1 'unauthorized: .*the name or the secret is wrong' --credentials "$scratch/nobody" join sale bob
check 'a file that is not there' run 1 'unauthorized: .*No such file' --credentials "$scratch/nowhere" ping
chmod 644 "$scratch/other"
check 'a file that others may read' run 1 'unauthorized: .*chmod 600' --credentials "$scratch/other" ping
end_daemon TERM
data=$scratch/data
check 'a daemon without credentials starts' eval 'data=$scratch/open; start'
check 'it is not taken for the right one' run 1 'unauthorized: .*asks for no credentials' --credentials "$scratch/anna" ping
unset ANTEROOM_CREDENTIALS
check 'and takes everybody else' run 0 '' room create sale capacity=1
end_daemon TERM

# --- in the log, by name ---
data=$scratch/data
check 'who made the room' says <(cli log dump "$data") '"type":"room_create","room":"sale".*"by":"anna"'
check 'who finished for her' says <(cli log dump "$data") '"type":"finish".*"by":"anna"'
check 'who rotated the key' says <(cli log dump "$data") '"type":"use_token_key","key_id":[0-9]+,"by":"anna"'
check 'who joined is not said' eval '! cli log dump "$data" | grep "\"type\":\"join\"" | grep -q "\"by\""'
check 'nobody is said without credentials' eval '! cli log dump "$scratch/open" | grep -q "\"by\""'
check 'the log is whole' run 0 'is whole' log check "$data"

# --- nowhere to be seen ---
check 'it starts for the last time' start --credentials "$scratch/credentials" --virtual-clock
check 'somebody is connected' anna 0 'durability' health
cut -d' ' -f3 "$scratch/credentials" "$scratch/other" | grep -E '.{32}' >"$scratch/secrets"
shows_none() { ! grep -qaF -f "$scratch/secrets" "$@"; }
check 'no secret is in the arguments' shows_none "/proc/$daemon/cmdline"
check 'no secret is in what it says' shows_none "$scratch/log"
check 'no secret is in its data' shows_none -r "$data"
check 'a core file has no memory in it' is "$(tr -d '0' <"/proc/$daemon/coredump_filter")" ''
end_daemon TERM
mkdir "$scratch/cores"
core_of() {
  (
    ulimit -c unlimited
    cd "$scratch/cores" || exit 1
    exec "$1" --listen none --unix "$scratch/core-socket" --data "$scratch/core-data" --credentials "$scratch/credentials"
  ) >"$scratch/log" 2>&1 &
  daemon=$!
  for _ in {1..200}; do
    grep -q 'listening on' "$scratch/log" && break
    sleep 0.05
  done
  kill -SEGV "$daemon"
  await_daemon
}
core_of "$(realpath "$bin/anteroomd")"
# Where the system puts core files elsewhere, or makes none, the filter above has to do.
check 'a core file shows no secret' shows_none -r "$scratch/cores"

closing
