#!/usr/bin/env bash
# Rotating the tokens' key as an operator does it, with a disk that fails, hangs, or is the last thing that happens; and
# where the keys go from there: backups, and starts without one of them.
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

# enter VISITOR: and keeps the token in $scratch/VISITOR.
people=
enter() {
  cli --output json enter sale "$1" | sed 's/.*"token":"\([^"]*\)".*/\1/' >"$scratch/$1.token"
  people="$people $1"
  [ "$(wc -c <"$scratch/$1.token")" -eq 23 ]
}
everybody_is_good() {
  local who
  for who in $people; do cli verify sale "$who" "$(<"$scratch/$who.token")" >"$scratch/said" 2>&1 || return 1; done
}
keys() { grep -c '^token-key ' "$data/secrets"; }
rotate() { cli tokens rotate >"$scratch/said" 2>&1; }

check 'it starts' start
cli room create sale capacity=none >/dev/null
check 'somebody comes' enter ann
check 'there is one key' is "$(keys)" 1
cp "$data/secrets" "$scratch/first"

# --- as it should be ---
check 'it rotates' rotate
check 'and says what it means' says "$scratch/said" '^tokens are made with the new key [0-9]+ from admission 2 on; those given before stay good'
check 'in JSON' says <(cli --output json tokens rotate) '^\{"key_id":[0-9]+,"first_admission":2\}$'
check 'there are three keys' is "$(keys)" 3
check 'the first is first' is "$(head -n 2 "$data/secrets")" "$(<"$scratch/first")"
check 'nobody else may read them' is "$(stat -c %a "$data/secrets")" 600
check 'somebody else comes' enter bob
check 'both tokens are good' everybody_is_good
check 'the help has an example' says <(cli tokens rotate --help) 'anteroom tokens rotate'
end_daemon KILL
check 'killed, it starts' start
check 'both tokens are still good' everybody_is_good
check 'the log says so' says <(cli log dump "$data") '"type":"use_token_key","key_id":[0-9]+\}'
shows_a_key() { grep -qaiF -f <(sed -n 's/^token-key [0-9]* \([0-9a-f]*\).*/\1/p' "$data/secrets") "$@"; }
check 'no key is in the log' eval '! shows_a_key "$data"/*.log'
check 'no key is in what it says' eval '! shows_a_key "$scratch/log" "$scratch/said"'

# --- backups ---
check 'a backup is made' cli --yes backup "$scratch/backup" --data "$data"
end_daemon TERM
check 'and another that moves' cli --yes backup "$scratch/moving" --data "$data" --move
for one in backup moving; do
  check "$one: restored" cli restore "$scratch/$one" --data "$scratch/from-$one"
  check "$one: all keys are there" cmp "$data/secrets" "$scratch/from-$one/secrets"
  data=$scratch/from-$one
  check "$one: it starts" start
  check "$one: every token is good" everybody_is_good
  check "$one: it rotates" rotate
  end_daemon TERM
  [ $one = moving ] || data=$scratch/data
done

# --- without a key that is needed ---
cp "$data/secrets" "$scratch/all"
cp "$scratch/first" "$data/secrets"
check 'without a key that the log names: refused' eval '! start'
check 'exit status 1' is "$daemon_status" 1
check 'it says which' says "$scratch/log" "is without the token key [0-9]+, with which the tokens of admissions from [0-9]+ on"
check 'and changes nothing' cmp "$scratch/first" "$data/secrets"
check 'log check says the same' says <(cli log check "$data" 2>&1) 'secret_missing: .*is without the token key'
check 'no backup is made of that' says <(cli --yes backup "$scratch/bad" --data "$data" 2>&1) 'is without the token key'
check 'and nobody is moved' says <(cli --yes backup "$scratch/bad" --data "$data" --move 2>&1) 'is without the token key'
# A digit of a key that is another one would make another key.
first_digit=$(sed -n '2s/^token-key [0-9]* \(.\).*/\1/p' "$scratch/all")
sed "2s/^\\(token-key [0-9]* \\)./\\1$([ "$first_digit" = 0 ] && echo 1 || echo 0)/" "$scratch/all" >"$data/secrets"
check 'a key is changed' eval '! cmp -s "$scratch/all" "$data/secrets"'
check 'a key with another digit: refused' eval '! start'
check 'and said' says "$scratch/log" 'is not what its checksum is of'
check 'log check says so too' says <(cli log check "$data" 2>&1) 'damaged: .*checksum'
cp "$scratch/all" "$data/secrets"
check 'with it back, it starts' start
check 'every token is good again' everybody_is_good

# --- a disk with faults ---
# inject PATH CALL:FAULT
inject() {
  attach strace -f -o "$scratch/trace" -P "$1" -e "trace=${2%%:*}" -e "inject=$2"
}
if ! inject "$data/secrets.tmp" rename:error=EIO; then
  echo "the rest is left out, for strace cannot look at a process here: $(cat "$scratch/attached")"
  closing
  exit
fi
end_tracer
for fault in openat:error=EMFILE pwrite64:error=ENOSPC fdatasync:error=EIO rename:error=EIO; do
  before=$(keys)
  inject "$data/secrets.tmp" "$fault"
  check "$fault: refused" eval '! rotate'
  check "$fault: in words" says "$scratch/said" 'unavailable: .*a new one cannot be kept'
  check "$fault: no key more" is "$(keys)" "$before"
  end_tracer
  check "$fault: it goes on" enter "after-${fault%%:*}"
  check "$fault: the next one is made" rotate
  check "$fault: and every token is good" everybody_is_good
done
inject "$data" fsync:error=EIO
check 'the directory is not synced: refused' eval '! rotate'
end_tracer
check 'the next one is made' rotate
check 'every token is good' everybody_is_good

inject "$data/secrets.tmp" fdatasync:delay_enter=3000000
"$bin/anteroom" tokens rotate >"$scratch/slow" 2>&1 </dev/null &
slow=$!
pause 0.3
check 'while the disk hangs in it, others are served' enter meanwhile
check 'it is not done yet' [ ! -s "$scratch/slow" ]
wait "$slow"
check 'in the end it is' says "$scratch/slow" 'new key'
end_tracer
check 'nobody has lost a token' everybody_is_good

# --- a crash at each step, the last one of which is between the file and the record ---
for step in "$data/secrets.tmp pwrite64" "$data/secrets.tmp fdatasync" "$data/secrets.tmp rename" "$data fsync"; do
  call=${step##* }
  check "killed in $call: somebody comes before" enter "before-$call"
  before=$(keys)
  inject "${step% *}" "$call:signal=KILL"
  check "killed in $call: no answer" eval '! rotate'
  await_daemon
  end_tracer
  check "killed in $call: it was killed by that" says "$scratch/trace" 'killed by SIGKILL'
  check "killed in $call: it starts" start
  [ "$call" != fsync ] || check 'killed between the two: the key is there, for nobody' is "$(keys)" $((before + 1))
  check "killed in $call: nothing half made is left" [ ! -e "$data/secrets.tmp" ]
  check "killed in $call: every token is good" everybody_is_good
  check "killed in $call: it rotates" rotate
  check "killed in $call: somebody comes after" enter "after-$call"
  check "killed in $call: and is good" everybody_is_good
done
end_daemon TERM
check 'it ends in good order' is "$daemon_status" 0
check 'the log is whole' says <(cli log check "$data") 'is whole'

closing
