#!/usr/bin/env bash
# The metrics of a real daemon as Prometheus gets them; the alert rules and the dashboard, which must not ask for what
# there is not.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

exporter=
url=
port=
# export_metrics FLAG...: serves on a free port; its address is then in $url, what it says in $scratch/exporter.
export_metrics() {
  : >"$scratch/exporter"
  "$bin/anteroom" metrics --listen 127.0.0.1:0 "$@" 2>"$scratch/exporter" </dev/null &
  exporter=$!
  for _ in {1..500}; do
    holds "$scratch/exporter" 'metrics at' && break
    kill -0 "$exporter" 2>/dev/null || break
    pause 0.02
  done
  url=$(grep -o 'http://.*' "$scratch/exporter")
  port=${url#http://127.0.0.1:}
  port=${port%/metrics}
  [ -n "$url" ]
}
end_exporter() {
  [ -n "$exporter" ] || return 0
  kill -TERM "$exporter" 2>/dev/null
  wait "$exporter" 2>/dev/null
  exporter_status=$?
  exporter=
}
trap 'end_exporter; end_tracer; end_daemon KILL; rm -rf "$scratch"' EXIT

# get PATH: the answer's head and body into $scratch/answer, by bash alone.
get() {
  exec {connection}<>"/dev/tcp/127.0.0.1/$port" || return 1
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&"$connection"
  timeout 20 cat <&"$connection" >"$scratch/answer"
  exec {connection}>&-
}
scrape() { get /metrics && says "$scratch/answer" '^HTTP/1\.[01] 200 '; }
shows() { grep -qxF -- "$1" <(tr -d '\r' <"$scratch/answer"); }
# comes_to_show LINE: within some seconds.
comes_to_show() {
  for _ in {1..200}; do
    scrape && shows "$1" && return 0
    pause 0.05
  done
  return 1
}
once() { cli metrics "$@" >"$scratch/answer" 2>"$scratch/said"; }

# --- once ---
check 'it starts' start
cli room create sale capacity=2 rate=600/m >/dev/null
cli room create opera capacity=none mode=paused >/dev/null
for who in ann bob cid $'d"\\x0a'; do cli join sale "$who" >/dev/null; done
cli --yes room set opera mode=closed >/dev/null
cli join opera ann >/dev/null 2>&1
check 'once: done' once
cp "$scratch/answer" "$scratch/once"
check 'it is up' shows 'anteroom_up 1'
check 'all of it' shows 'anteroom_scrape_complete 1'
check 'it is well' shows 'anteroom_status{status="ok"} 1'
check 'who waits in a room' shows 'anteroom_room_waiting{room="sale"} 2'
check 'who waits in all' shows 'anteroom_waiting 2'
check 'who was let in' shows 'anteroom_room_admitted_total{room="sale"} 2'
check 'who was refused, and why' shows 'anteroom_room_refused_total{room="opera",reason="closed"} 1'
check 'rates in seconds' shows 'anteroom_room_rate_per_second{room="sale"} 10'
check 'no capacity is no number' eval '! says "$scratch/answer" "anteroom_room_capacity.*opera"'
check 'modes' shows 'anteroom_room_mode{room="opera",mode="closed"} 1'
check 'how long answers took' says "$scratch/answer" '^anteroom_answer_seconds_bucket\{le="0.01"\} [1-9]'
check 'and syncs' says "$scratch/answer" '^anteroom_sync_seconds_count [1-9]'
check 'nobody is named' eval '! says "$scratch/answer" "\\b(ann|bob|cid)\\b"'
check 'fewer rooms' once --rooms 1
check 'the first by name' shows 'anteroom_room_waiting{room="opera"} 0'
check 'not the other' eval '! says "$scratch/answer" "sale"'
check 'which is counted' shows 'anteroom_rooms_left_out 1'
check 'and is in the sum' shows 'anteroom_waiting 2'

# --- wrong usage ---
# refused STATUS PATTERN FLAG...
refused() {
  local wanted=$1 pattern=$2 status
  shift 2
  once "$@"
  status=$?
  is "$status" "$wanted" && says "$scratch/said" "$pattern"
}
check 'beyond this machine' refused 2 'anybody could read.*--public' --listen 0.0.0.0:0
check 'no address' refused 2 'is not an address' --listen 127.0.0.1:9464,80
check 'public alone' refused 2 'goes with --listen' --public
check 'too many rooms' refused 2 'it takes at most 100000' --rooms 100001
check 'JSON' refused 2 'a form of their own' --output json

# --- over HTTP ---
check 'it listens' export_metrics
check 'a scrape' scrape
check 'of the right type' says "$scratch/answer" '^Content-Type: text/plain'
check 'shows who waits' shows 'anteroom_room_waiting{room="sale"} 2'
cli leave sale cid >/dev/null
check 'another scrape' scrape
check 'asks anew' shows 'anteroom_room_waiting{room="sale"} 1'
check 'what was asked for once is all there' is \
  "$(comm -23 <(grep '^# TYPE' "$scratch/once" | sort) <(tr -d '\r' <"$scratch/answer" | grep '^# TYPE' | sort))" ''
check 'nothing else is served' eval 'get / && says "$scratch/answer" "^HTTP/1.[01] 404 "'
check 'a port that is taken' refused 1 'cannot listen on' --listen "127.0.0.1:$port"

# --- those who connect and never ask ---
for _ in {1..3}; do exec {silent}<>"/dev/tcp/127.0.0.1/$port"; done
check 'silent ones do not keep others out' scrape

# --- a daemon that goes ---
end_daemon KILL
check 'a killed one is down' comes_to_show 'anteroom_up 0'
check 'and nothing is told of it' eval '! says "$scratch/answer" "^anteroom_(waiting|status)"'
check 'it is said why' says "$scratch/exporter" 'anteroom: (unreachable|connection_lost)'
check 'once: no error' once
check 'once: down' shows 'anteroom_up 0'
check 'it starts again' start
check 'and is up' comes_to_show 'anteroom_up 1'
check 'with all that it had' shows 'anteroom_room_joined_total{room="sale"} 4'
check 'that is said too' says "$scratch/exporter" 'the daemon answers'

# --- a daemon whose disk hangs ---
if attach strace -f -o "$scratch/trace" -e trace=fdatasync -e inject=fdatasync:delay_enter=30000000; then
  timeout 60 "$bin/anteroom" join sale late >/dev/null 2>&1 </dev/null &
  joining=$!
  pause 0.3
  check 'with a disk that hangs: a scrape' scrape
  check 'it is up' shows 'anteroom_up 1'
  check 'but of rooms there is nothing' shows 'anteroom_scrape_complete 0'
  check 'of records there is' says "$scratch/answer" '^anteroom_records_durable_total [0-9]+'
  kill "$joining" 2>/dev/null
else
  echo "the disk that hangs is left out, for strace cannot look at a process here: $(cat "$scratch/attached")"
fi
end_tracer
end_exporter
check 'it ends when told to' is "$exporter_status" 0
end_daemon KILL

# --- credentials ---
umask 077
cli credentials new prom reader >"$scratch/reader"
cli credentials new anna operator >"$scratch/operator"
cat "$scratch/reader" "$scratch/operator" >"$scratch/book"
check 'with credentials it starts' start --credentials "$scratch/book"
check 'a reader may' once --credentials "$scratch/reader"
check 'and sees' shows 'anteroom_up 1'
check 'without: refused' refused 1 'unauthorized' --rooms 1
check 'the exporter without' export_metrics
check 'shows that it cannot' comes_to_show 'anteroom_up 0'
check 'and says why' says "$scratch/exporter" 'unauthorized'
end_exporter
end_daemon TERM

# --- rules and dashboard ---
deploy=$source_dir/tools/deploy
# names FILE: the metrics that it names; those of a histogram have three names more.
names() { grep -oE '\banteroom_[a-z0-9_]+' "$1" | sed -E 's/_(bucket|sum|count)$//' | sort -u; }
known=$scratch/known
sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' "$scratch/once" | sort -u >"$known"
for file in alerts.yml alerts_test.yml grafana-dashboard.json; do
  check "$file names metrics" [ -n "$(names "$deploy/$file")" ]
  check "$file: there are all" is "$(comm -23 <(names "$deploy/$file") "$known")" ''
done
check 'each alert is tested' is \
  "$(comm -23 <(sed -n 's/.*alert: //p' "$deploy/alerts.yml" | sort -u) \
    <(grep -oE 'Anteroom[A-Za-z]+' "$deploy/alerts_test.yml" | sort -u))" ''
check 'there is a promtool' eval 'promtool=$("$source_dir/tools/promtool.sh")'
promtool() { (cd "$deploy" && "$promtool" "$@") >"$scratch/said" 2>&1 || { cat "$scratch/said" && false; }; }
check 'promtool takes the metrics' eval '"$promtool" check metrics <"$scratch/once"'
check 'promtool takes the example' promtool check config prometheus.yml
check 'promtool takes the rules' promtool check rules alerts.yml
check 'each rule fires when it should' promtool test rules alerts_test.yml

closing
