#!/usr/bin/env bash
# Includes go one way. For each folder the table says which of the project's folders, and which outside libraries, its
# files may include; tests and benchmarks may include anything. Quoted includes are written from the repository's root.
set -u
here=$(cd "$(dirname "$0")" && pwd)

table='
protocol        protocol                                                                    absl openssl
server/base     server/base protocol                                                        absl xxhash
server/engine   server/engine server/base protocol                                          absl xxhash
server/storage  server/storage server/engine server/base protocol                           absl xxhash
server/auth     server/auth server/engine server/base protocol                              absl xxhash openssl
server/net      server/net server/engine server/base protocol                               absl xxhash uv
server/app      server/app server/net server/auth server/storage server/engine server/base protocol absl xxhash uv openssl CLI
client          client protocol                                                             absl uv
client/testing  client/testing client server/engine server/auth server/base protocol        absl uv
tools           tools client protocol server/engine server/auth server/storage server/base absl xxhash uv nlohmann CLI toml++ prometheus
'

mapfile -t files < <("$here/sources.sh" '*.cc' '*.h')
[ ${#files[@]} -gt 0 ] || exit 0
"$here/code_only.pl" "${files[@]}" | TABLE=$table awk '
  # The folder of the table that `path` lies in: the longest that matches; "" when none does.
  function folder_of(path,   folder, best) {
    best = ""
    for (folder in allowed)
      if (index(path, folder "/") == 1 && length(folder) > length(best)) best = folder
    return best
  }
  function complain(text) { print place ": " text; status = 1 }
  BEGIN {
    count = split(ENVIRON["TABLE"], lines, "\n")
    for (i = 1; i <= count; i++) {
      words = split(lines[i], word, " ")
      if (words == 0) continue
      allowed[word[1]] = " "
      for (j = 2; j <= words; j++) allowed[word[1]] = allowed[word[1]] word[j] " "
    }
    libraries["absl"]; libraries["xxhash"]; libraries["openssl"]; libraries["uv"]; libraries["nlohmann"]
    libraries["CLI"]; libraries["toml++"]; libraries["prometheus"]; libraries["doctest"]; libraries["benchmark"]
  }
  !/^[^:]*:[0-9]+:[ \t]*#[ \t]*include/ { next }
  {
    split($0, part, ":")
    path = part[1]
    place = path ":" part[2]
    from = folder_of(path)
    if (match($0, /["<][^">]*[">]/) == 0) next
    quoted = substr($0, RSTART, 1) == "\""
    target = substr($0, RSTART + 1, RLENGTH - 2)
    library = target
    sub(/[\/.].*/, "", library)
    if (library in libraries) {
      if (from != "" && index(allowed[from], " " library " ") == 0)
        complain("includes " target ": " from " does not use " library)
      next
    }
    if (!quoted) next
    if ((getline ignored < target) < 0) {
      complain("includes \"" target "\": no such file from the root of the repository")
      next
    }
    close(target)
    if (from == "") next
    to = folder_of(target)
    if (to == "") to = target
    if (index(allowed[from], " " to " ") == 0) complain("includes " target ": " from " may not use " to)
  }
  END { exit status }
'
