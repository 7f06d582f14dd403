#!/usr/bin/env bash
# The daemon as a process: stopped for a while, with few descriptors, and with a secret that nobody else may see.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

# --- stopped for two seconds: no burst when it goes on, and nobody's time is cut short ---
check 'it starts' start
cli room create sale rate=20/s admit_interval=50ms capacity=1000 claim_ttl=1h session_ttl=1h >/dev/null
cli room create fixed capacity=1 session_ttl=10m session_renewal=fixed >/dev/null
cli enter fixed ann >/dev/null
cli room create brief capacity=none claim_ttl=4s remember_ttl=1h >/dev/null
brief_began_us=${EPOCHREALTIME/[.,]/}
cli join brief bob >/dev/null
for i in {1..120}; do cli join sale "v$i"; done >/dev/null
kill -STOP "$daemon"
sleep 2
kill -CONT "$daemon"
for _ in {1..200}; do
  cli --output json room show sale | grep -q '"waiting":0,' && break
  sleep 0.05
done
check 'stopped for two seconds: everybody comes in' says <(cli --output json room show sale) '"admitted":120'
# Admissions in any half second of engine time: at most 20/s x 0.5 s and two depths of one.
cli --output json inside sale 0 1000 | sed -n 's/.*"at_ms":\([0-9]*\).*/\1/p' >"$scratch/times"
check 'stopped for two seconds: all are told' is "$(wc -l <"$scratch/times")" 120
check 'stopped for two seconds: no burst' is "$(sort -n "$scratch/times" | awk '
  { time[NR] = $1 }
  END { for (i = 1; i + 12 <= NR; i++) if (time[i + 12] - time[i] < 500) bursts++; print bursts + 0 }')" 0
check 'stopped for two seconds: the session goes on' says <(cli status fixed ann) active
for _ in {1..200}; do
  cli status brief bob 2>&1 | grep -q ended && break
  sleep 0.05
done
brief_ended_us=${EPOCHREALTIME/[.,]/}
check 'stopped for two seconds: who does not claim is ended' says <(cli status brief bob 2>&1) ended
check 'stopped for two seconds: no sooner than said' [ $((brief_ended_us - brief_began_us)) -ge 4000000 ]
end_daemon TERM

# --- few descriptors ---
few_descriptors() {
  local name=$scratch/few
  (
    ulimit -n 200
    exec "$bin/anteroomd" --listen 127.0.0.1:0 --unix "$scratch/few-socket" --data "$scratch/few-data" --segment-bytes 8K \
      --snapshot-log-bytes 16K
  ) >"$name" 2>&1 &
  daemon=$!
  for _ in {1..100}; do
    port=$(sed -n 's/.* listening on 127.0.0.1:\([0-9]*\) .*/\1/p' "$name")
    [ -n "$port" ] && return 0
    kill -0 "$daemon" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}
few() { "$bin/anteroom" --server "unix:$scratch/few-socket" "$@"; }
check 'with 200 descriptors it starts' few_descriptors
check 'with 200 descriptors a room is made' says <(few room create sale capacity=0 2>&1) sale
connections=()
for _ in {1..150}; do
  # One that is refused may be closed before bash has it.
  { exec {connection}<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && connections+=("$connection")
done
ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }
before=$(ticks)
sleep 1
check 'with too many connections it does not turn idly' [ $(($(ticks) - before)) -lt 20 ]
# Those who are refused get a second to read why, 32 at a time.
for _ in {1..100}; do
  few ping >"$scratch/refused" 2>&1
  grep -q 'as many connections' "$scratch/refused" && break
  sleep 0.05
done
check 'with too many connections one is refused in words' says "$scratch/refused" 'as many connections'
# All but two of them stay: the CLI has one at a time. The first ones were taken; the last may be some that were refused.
for i in 0 1; do
  connection=${connections[i]}
  unset "connections[i]"
  exec {connection}>&-
done
for _ in {1..100}; do
  few ping >/dev/null 2>&1 && break
  sleep 0.05
done
check 'when two are gone it answers again' says <(few ping 2>&1) answers
# No connection takes the descriptors that log and snapshots need.
long=$(printf 'x%.0s' {1..200})
for i in {1..300}; do few join sale "$long-$i" || break; done >/dev/null 2>"$scratch/refused"
check 'and takes everybody' says <(few --output json room show sale) '"waiting":300,'
check 'and the log takes new segments' [ -n "$(find "$scratch/few-data" -name '0000001*.log')" ]
for _ in {1..100}; do
  [ -e "$scratch/few-data/00000001.log" ] || break
  sleep 0.05
done
check 'and snapshots are made' [ ! -e "$scratch/few-data/00000001.log" ]
for connection in "${connections[@]}"; do exec {connection}>&-; done
end_daemon TERM
check 'and nothing went wrong' [ "$daemon_status" -eq 0 ]

# --- the secret ---
check 'it starts again' start
key=$(sed -n 's/^token-key [0-9]* \([0-9a-f]*\).*/\1/p' "$data/secrets")
check 'there is a key' [ ${#key} -eq 64 ]
cli enter sale bob >/dev/null
shows_key() { grep -qi "$key"; }
check 'the key is not in the arguments' eval '! tr "\0" " " <"/proc/$daemon/cmdline" | shows_key'
check 'the key is not in what it says' eval '! shows_key <"$scratch/log"'
check 'the key is in no answer' eval '! (cli health; cli stats; cli --output json room list) 2>&1 | shows_key'
end_daemon TERM
check 'the key is not in the log' eval '! cli log dump "$data" | shows_key'
check 'nobody else may read it' is "$(stat -c %a "$data/secrets")" 600
chmod 644 "$data/secrets"
check 'when others may, it starts' start
check 'and says so' says "$scratch/log" 'secrets, and whoever reads it can make every token; say chmod 600'

# --- signals ---
kill -HUP "$daemon"
check 'SIGHUP without credentials is nothing to it' cli join sale after-hup
end_daemon TERM
check 'and it stops in good order' is "$daemon_status" 0
if strace -e trace=none true 2>/dev/null; then
  # Held in its first call that looks at the log.
  under=(strace -D -f -o "$scratch/trace" -P "$data/00000001.log" -e trace=pread64 -e inject=pread64:delay_enter=2000000:when=1)
  launch
  under=()
  for _ in {1..500}; do
    [ -s "$scratch/trace" ] && break
    pause 0.01
  done
  pause 0.2
  end_daemon TERM
  check 'SIGTERM while it starts: exit status 0' is "$daemon_status" 0
fi
check 'and it starts after that' start
check 'with everybody' cli status sale after-hup
end_daemon TERM

closing
