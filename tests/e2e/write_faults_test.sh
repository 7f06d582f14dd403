#!/usr/bin/env bash
# Every call by which the real daemon writes, failing in every way it can, and what has to come of it. strace makes the
# call fail; a write that takes less than it was given is a small library's, for strace cannot let one happen.
#
# The table. `working`: a daemon with people in line, more joining; `again`: one that starts on what a kill left;
# `afresh`: one that starts on nothing. `on` is the file: any, the directory, its last segment; the spare that is
# reserved already, the next one that is still to be made. Outcomes:
#   ends       exit status 1 at once, with the call and the file in words; nobody is told of a place after that
#   finishes   as if nothing had been
#   disk_full  newcomers are refused with this reason, people leave; newcomers are taken when the disk is well again
#   refuses    it does not start, exit status 1, with the call in words; on a sound disk it does
# And always: after a kill and a start without faults everybody who was told of a place has it.
#
#     while    on        faults                                      outcome    said
read -r -d '' table <<'END'
      working  any       pwrite64:error=EIO                          ends       write .*\.log
      working  any       pwrite64:error=ENOSPC                       ends       write .*\.log
      working  any       pwrite64:error=EINTR:when=1+2               finishes
      working  any       pwrite64:retval=0                           ends       write of no bytes
      working  any       short                                       finishes
      working  spare     pwrite64:error=EIO                          ends       write .*\.log
      working  any       fdatasync:error=EIO                         ends       sync .*\.log
      working  any       fdatasync:error=EIO:when=2                  ends       sync .*\.log
      working  any       fdatasync:error=ENOSPC                      ends       sync .*\.log
      working  any       fdatasync:error=EINTR:when=1+2              finishes
      working  spare     fdatasync:error=EIO                         ends       sync .*\.log
      working  next      fdatasync:error=EIO                         ends       sync .*\.log
      working  next      openat:error=EIO                            ends       open .*\.log
      working  next      openat:error=EMFILE                         ends       open .*\.log
      working  next      openat:error=EINTR:when=1                   finishes
      working  next      openat:error=ENOSPC                         disk_full  no space .*open
      working  next      fallocate:error=EIO                         ends       reserve space for .*\.log
      working  next      fallocate:error=EINTR:when=1                finishes
      working  next      fallocate:error=EOPNOTSUPP                  finishes
      working  next      fallocate:error=ENOSPC                      disk_full  no space .*reserve
      working  next      fallocate:error=ENOSPC,unlink:error=EIO     disk_full  no space .*reserve
      working  directory fsync:error=EIO                             ends       sync directory
      working  directory fsync:error=ENOSPC                          ends       sync directory
      working  directory fsync:error=EINTR:when=1                    finishes
      again    last      pwrite64:error=EIO                          refuses    write .*\.log
      again    last      pwrite64:error=ENOSPC                       refuses    write .*\.log
      again    last      pwrite64:error=EINTR:when=1+2               finishes
      again    last      short                                       finishes
      again    last      fdatasync:error=EIO                         refuses    sync .*\.log
      again    last      fdatasync:error=EINTR:when=1+2              finishes
      again    last      openat:error=EIO                            refuses    open .*\.log
      again    last      pread64:error=EIO                           refuses    read .*\.log
      again    lock      pwrite64:error=EIO                          refuses    write .*lock
      again    lock      pwrite64:error=ENOSPC                       finishes
      again    lock      pwrite64:error=EINTR:when=1                 finishes
      again    directory fsync:error=EIO                             refuses    sync directory
      again    leftover  unlink:error=EIO                            refuses    remove .*\.tmp
      afresh   any       pwrite64:error=EIO                          refuses    write
      afresh   any       pwrite64:error=ENOSPC                       refuses    write
      afresh   any       short                                       finishes
      afresh   any       fallocate:error=EIO                         refuses    reserve space
      afresh   any       fallocate:error=ENOSPC                      refuses    reserve space
      afresh   any       fdatasync:error=EIO                         refuses    sync
      afresh   directory fsync:error=EIO:when=3                      refuses    sync directory
      afresh   any       rename:error=EIO                            refuses    rename .*secrets
      afresh   any       rename:error=ENOSPC:when=2                  refuses    rename .*\.log
      afresh   any       rename:error=EINTR:when=2                   refuses    rename .*\.log
END
set -u
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib_daemon.sh"

cat >"$scratch/short.cc" <<'END'
#include <cstdlib>
#include <sys/syscall.h>
#include <unistd.h>
static ssize_t Write(int fd, const void* bytes, size_t count, off_t offset) {
  if (count > 1 && access(std::getenv("SHORT_WRITES"), F_OK) == 0) count = (count + 1) / 2;
  return syscall(SYS_pwrite64, fd, bytes, count, offset);
}
extern "C" ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  return Write(fd, bytes, count, offset);
}
extern "C" ssize_t pwrite64(int fd, const void* bytes, size_t count, off_t offset) {
  return Write(fd, bytes, count, offset);
}
END
g++ -shared -fPIC -o "$scratch/short.so" "$scratch/short.cc" || exit 1
export SHORT_WRITES=$scratch/writes-are-short

tracing=()
# Traced from its first step on: it waits, stopped, until strace has it.
launch() {
  # shellcheck disable=SC2016 # it is the inner bash that expands them
  LD_PRELOAD=$scratch/short.so bash -c '[ "$1" = 0 ] || kill -STOP $$; shift; exec "$@"' bash ${#tracing[@]} \
    "$bin/anteroomd" --listen none --unix "$scratch/socket" --data "$data" --segment-bytes 4K >"$scratch/log" 2>&1 &
  daemon=$!
  [ ${#tracing[@]} -gt 0 ] || return 0
  for _ in {1..500}; do
    [[ $(<"/proc/$daemon/stat") != *') T '* ]] || break
    pause 0.01
  done
  trace
  kill -CONT "$daemon"
}

# trace: strace looks at the daemon, as $tracing says; no $tracer when it cannot, or is not asked to.
trace() {
  [ ${#tracing[@]} -gt 0 ] || return 0
  attach "${tracing[@]}"
}

# segment HOW_MANY: the path of the last segment file, or of one that many beyond.
segment() {
  local last
  last=$(cd "$data" && printf '%s\n' ./*.log | tail -n 1 | tr -dc 0-9)
  printf '%s/%08d.log' "$data" $((10#$last + $1))
}
# file_of ON: which file a row means, as words for strace.
file_of() {
  case $1 in
    any) ;;
    directory) printf '%s' "$data" ;;
    last) cd "$data" && grep -lE --text '^ANTELOG$' -- *.log | tail -n 1 | sed "s|^|$data/|" ;;
    spare) segment 0 ;;
    next) segment 1 ;;
    lock) printf '%s/lock' "$data" ;;
    leftover) printf '%s/00000009.log.tmp' "$data" ;;
  esac
}
# faults ON LIST: the words for strace in $tracing; nothing for short writes.
faults() {
  local on=$1 list=$2 fault path
  tracing=()
  : >"$scratch/trace"
  if [ "$list" = short ]; then
    : >"$SHORT_WRITES"
    return
  fi
  tracing=(strace -f -o "$scratch/trace")
  path=$(file_of "$on")
  [ -z "$path" ] || tracing+=(-P "$path")
  tracing+=(-e "trace=$(sed -E 's/:[^,]*//g' <<<"$list")")
  for fault in ${list//,/ }; do [[ $fault != *:* ]] || tracing+=(-e "inject=$fault"); done
}
happened() { [ -e "$SHORT_WRITES" ] || holds "$scratch/trace" INJECTED; }

# join: somebody new; those who are told of a place are in $scratch/told.
people=0
long=$(printf 'x%.0s' {1..240})
join() {
  people=$((people + 1))
  "$bin/anteroom" --output json join sale "$long$people" >"$scratch/said" 2>&1 </dev/null &&
    holds "$scratch/said" '"state":"waiting"' && echo "$long$people" >>"$scratch/told"
}
everybody_is_there() {
  cli --output json peek sale 0 1000 >"$scratch/there"
  is "$(grep -oFf "$scratch/told" "$scratch/there" | sort -u | wc -l)" "$(wc -l <"$scratch/told")"
}

# what_came_of_it: joins until it has ended, refuses, or has gone on after the fault.
what_came_of_it() {
  local after=0
  for _ in {1..40}; do
    happened && after=$((after + 1))
    if join; then
      [ $after -le 2 ] || { outcome=finishes && return; }
    elif holds "$scratch/said" disk_full; then
      outcome=disk_full && return
    elif [ $after -gt 0 ] || happened; then
      # Its end has to come by itself.
      for _ in {1..100}; do
        kill -0 "$daemon" 2>/dev/null || break
        pause 0.05
      done
      if kill -0 "$daemon" 2>/dev/null; then outcome='goes on without an answer'; else outcome=ends; fi
      return
    else
      outcome="fails before the fault: $(cat "$scratch/said")" && return
    fi
  done
  outcome='no such call'
}

working() {
  local what=$1 on=$2 list=$3 wanted=$4 said=$5
  faults "$on" "$list"
  trace
  what_came_of_it
  check "$what: $wanted" is "$outcome" "$wanted"
  case $wanted in
    ends)
      end_daemon KILL
      check "$what: exit status 1" is "$daemon_status" 1
      ;;
    disk_full)
      check "$what: people leave" says <(cli leave sale "$(tail -n 1 "$scratch/told")" 2>&1) left
      sed -i '$d' "$scratch/told"
      end_tracer
      check "$what: when it is well again so is all" eventually join
      ;;
  esac
  [ -z "$said" ] || check "$what: said" says "$scratch/log" "$said"
  end_daemon KILL
  end_tracer
}
eventually() {
  for _ in {1..100}; do
    "$@" && return 0
    pause 0.1
  done
  return 1
}

starting() {
  local what=$1 on=$2 list=$3 wanted=$4 said=$5
  end_daemon KILL
  [ "$on" != leftover ] || : >"$data/00000009.log.tmp"
  faults "$on" "$list"
  if start; then outcome=finishes; else outcome=refuses; fi
  check "$what: it came to it" happened
  check "$what: $wanted" is "$outcome" "$wanted"
  if [ "$wanted" = refuses ]; then
    check "$what: exit status 1" is "$daemon_status" 1
    check "$what: said" says "$scratch/log" "$said"
  fi
  end_daemon KILL
  end_tracer
}

# sound_start: nothing fails any more.
sound_start() {
  tracing=()
  [ ! -e "$SHORT_WRITES" ] || rm "$SHORT_WRITES"
  start
}
# Before and after each row a daemon runs to which nothing happens.
row() {
  local while=$1 on=$2 list=$3 wanted=$4 said=$5 what="$1, $3 on $2"
  case $while in
    working) working "$what" "$on" "$list" "$wanted" "$said" ;;
    again) starting "$what" "$on" "$list" "$wanted" "$said" ;;
    afresh)
      end_daemon KILL
      mv "$data" "$scratch/kept"
      starting "$what" "$on" "$list" "$wanted" "$said"
      check "$what: a start after that is good" sound_start
      check "$what: and takes people" says <(cli room create sale capacity=0 2>&1) 'capacity  *0'
      end_daemon KILL
      rm -r "$data"
      mv "$scratch/kept" "$data"
      ;;
  esac
  check "$what: it starts after that" sound_start
  check "$what: everybody is there" everybody_is_there
}

check 'it starts' sound_start
cli room create sale capacity=0 >/dev/null
for _ in {1..5}; do check 'a line forms' join; done
faults any fsync
trace
if [ -z "$tracer" ]; then
  echo "left out, for strace cannot look at a process here: $(cat "$scratch/attached")"
  closing
  exit
fi
end_tracer
while read -r while on list wanted said; do
  row "$while" "$on" "$list" "$wanted" "$said" </dev/null
done <<<"$table"
end_daemon KILL
check 'there was a line' [ "$(wc -l <"$scratch/told")" -gt 50 ]
check 'the log is whole' says <(cli log check "$data") 'is whole'

closing
