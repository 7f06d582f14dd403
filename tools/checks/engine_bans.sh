#!/usr/bin/env bash
# The engine is deterministic: in server/engine no clock, no source of randomness, no file, no socket, no thread, no
# floating point, no hash that differs from run to run, and no walk over an unordered container. A walk whose result does
# not depend on the order is let through by a comment `order-free: why` on its line.
set -u
here=$(cd "$(dirname "$0")" && pwd)

mapfile -t files < <("$here/sources.sh" '*.cc' '*.h' | grep '^server/engine/')
[ ${#files[@]} -gt 0 ] || exit 0
code=$("$here/code_only.pl" --allow=order-free: "${files[@]}")
status=0

# ban WHAT REGEX
ban() {
  local found
  found=$(grep -P "^[^:]+:[0-9]+:.*(?:$2)" <<<"$code") || return 0
  sed "s|\$|    <- $1|" <<<"$found"
  status=1
}

ban clock '#\s*include\s*<(chrono|ctime|time\.h|sys/time\.h)>|absl/time/clock|\bstd::chrono\b|\babsl::Now\b'
ban clock '\b(clock_gettime|gettimeofday|timespec_get|uv_now|uv_hrtime)\b|\b(std::|::)?time\s*\(\s*(NULL|nullptr|0|&)'
ban randomness '#\s*include\s*<random>|absl/random|\b(random_device|mt19937(_64)?|BitGen|getrandom|getentropy)\b'
ban randomness '\b(std::)?s?rand(om)?\s*\('
ban 'files and sockets' '#\s*include\s*<(fstream|iostream|filesystem|cstdio|stdio\.h|unistd\.h|fcntl\.h|sys/(?!types)\w+\.h|netinet/\w+\.h)>'
ban 'files and sockets' '(?<![\w.>:])(::)?(fopen|open|socket|getenv|printf|fprintf|mmap)\s*\(|\bstd::(getenv|printf|fopen|cout|cerr|ifstream|ofstream)\b'
ban 'libuv and threads' '#\s*include\s*<(uv\.h|thread|mutex|future|condition_variable|pthread\.h)>|\buv_\w+'
ban 'floating point' '\b(float|double)\b|(?<![\w.])\d+\.\d|(?<![\w.])\.\d|(?<![\w.])\d+e[+-]?\d|#\s*include\s*<cmath>'
ban 'hash that differs from run to run' '\babsl::Hash\b|\babsl::HashOf\b|\bAbslHashValue\b|\bstd::hash\b|absl/hash/'

# Names declared anywhere in the engine as an unordered container: no range-for over them, no begin().
unordered=$(grep -oP '\b(absl::(flat|node)_hash_(map|set)|std::unordered_(map|set))\s*<.*>\s*&?\s*\K\w+(?=\s*(;|=|\{|\)|,|ABSL))' \
  <<<"$code" | LC_ALL=C sort -u | paste -sd '|')
if [ -n "$unordered" ]; then
  ban 'walk over an unordered container' "for\s*\(.*:\s*[^)]*\b($unordered)\s*\)|\b($unordered)\s*(\.|->)\s*c?begin\s*\("
fi
exit $status
