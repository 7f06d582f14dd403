#!/usr/bin/env bash
# Shows that every check can fail: a small tree that each of them accepts, then one fault at a time, each of which must be
# found. (format and tidy are not shown here: their tools have tests of their own.)
set -u
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
status=0

fresh_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/server/engine" "$tree/server/net" "$tree/protocol"
  printf '%s\n' '#ifndef ANTEROOM_PROTOCOL_A_H_' '#define ANTEROOM_PROTOCOL_A_H_' '#endif' >"$tree/protocol/a.h"
  printf '%s\n' '#ifndef ANTEROOM_SERVER_NET_B_H_' '#define ANTEROOM_SERVER_NET_B_H_' '#include <uv.h>' '#endif' \
    >"$tree/server/net/b.h"
  cat >"$tree/server/engine/c.cc" <<'CODE'
#include "protocol/a.h"
// A comment may speak of a double, of time(nullptr) and of 0.5; a string may, too.
const char* text = "float 1.5 std::chrono rand()";
int64_t time() { return 1'000'000; }
absl::flat_hash_map<int, int> table_;
int Sum() {
  for (const auto& [key, value] : table_) sum += value;  // order-free: a sum
}
CODE
  printf '%s\n' 'print-sources:' '	@echo server/engine/c.cc' >"$tree/Makefile"
}

# must_accept CHECK
must_accept() {
  (cd "$tree" && "$here/$1.sh") || { echo "selftest: $1 complains of a tree that is right" && status=1; }
}

# must_refuse CHECK FILE LINE: with LINE at the end of FILE the check must fail and name the file.
must_refuse() {
  fresh_tree
  mkdir -p "$(dirname "$tree/$2")"
  printf '%s\n' "$3" >>"$tree/$2"
  local output
  if output=$(cd "$tree" && "$here/$1.sh" 2>&1) || ! grep -qF "$2" <<<"$output"; then
    echo "selftest: $1 does not see: $2: $3"
    status=1
  fi
}

fresh_tree
for check in conventions includes engine_bans sizes paths reachable; do
  must_accept $check
done

engine=server/engine/c.cc
must_refuse includes $engine '#include "server/net/b.h"'
must_refuse includes $engine '#include <uv.h>'
must_refuse includes $engine '#include "missing.h"'
must_refuse includes protocol/a.h '#include "server/net/b.h"'
must_refuse includes client/d.cc '#include "server/net/b.h"'
must_refuse includes tools/cli/d.cc '#include "server/net/b.h"'
must_refuse engine_bans $engine '#include <chrono>'
must_refuse engine_bans $engine 'auto now = std::time(nullptr);'
must_refuse engine_bans $engine '#include <random>'
must_refuse engine_bans $engine 'int dice = rand();'
must_refuse engine_bans $engine '#include <fstream>'
must_refuse engine_bans $engine 'int fd = ::open(path, 0);'
must_refuse engine_bans $engine '#include <mutex>'
must_refuse engine_bans $engine 'double rate;'
must_refuse engine_bans $engine 'auto half = 0.5;'
must_refuse engine_bans $engine 'auto hash = absl::Hash<int>()(1);'
must_refuse engine_bans $engine 'for (auto& [key, value] : table_) Write(key);'
must_refuse engine_bans $engine 'for (auto it = table_.begin(); it != table_.end(); ++it) Write(*it);'
must_refuse sizes $engine "$(printf '//\n%.0s' {1..600})"
must_refuse paths $engine "// see /ho""me/someone/notes"
must_refuse conventions $engine '// TO''DO'
must_refuse conventions protocol/wrong_guard.h '#ifndef WRONG_H_'
must_refuse conventions tools/broken.sh 'if then'
must_refuse reachable tools/lost.cc ''
exit $status
