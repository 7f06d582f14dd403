#!/usr/bin/env bash
# `make install` into an empty folder gives programs, libraries, headers and pkg-config files that another project can
# use: a program that includes every installed header compiles with nothing but what pkg-config says, links and starts.
set -u
cd "${ANTEROOM_SOURCE_DIR:-.}" || exit 2
image=$(mktemp -d)
trap 'rm -rf "$image"' EXIT
failed=0
passed=0

expect() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "failed: $what"
    failed=$((failed + 1))
  fi
}

quietly() { "$@" >/dev/null; }

expect "make install" quietly env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make install SANITIZE= PREFIX="$image/usr" DESTDIR=
for name in bin/anteroomd bin/anteroom lib/libanteroom.a lib/libanteroom_testing.a share/doc/anteroom/LICENSE; do
  expect "$name is installed" test -f "$image/usr/$name"
done

export PKG_CONFIG_PATH=$image/usr/lib/pkgconfig
# program NAME PACKAGE HEADER_FOLDER...: a program of all headers directly in these folders.
program() {
  local name=$1 package=$2 folder
  shift 2
  for folder in "$@"; do
    (cd "$image/usr/include/anteroom" && find "$folder" -maxdepth 1 -name '*.h' | sort)
  done | sed 's|.*|#include "&"|' >"$image/$name.cc"
  echo 'int main() { return 0; }' >>"$image/$name.cc"
  # shellcheck disable=SC2046 # the flags are words
  (cd "$image" && g++ -std=c++20 -Wall -Wextra -Werror "$name.cc" -o "$name" \
    $(pkg-config --cflags --libs "$package")) && "$image/$name"
}
expect "a program with every header of the library" program application anteroom protocol client
[ ! -d "$image/usr/include/anteroom/client/testing" ] ||
  expect "a program with every header of the testing library" program application_test anteroom_testing client/testing

# The page's test program, by the page's word on how.
awk '/^```c\+\+$/ { inside = 1; next } /^```$/ { inside = 0 } inside' client/README.md >"$image/shop_test.cc"
# shellcheck disable=SC2046 # the flags are words
compile_shop_test() {
  (cd "$image" && g++ -std=c++20 -Wall -Wextra -Werror shop_test.cc -o shop_test $(pkg-config --cflags --libs anteroom_testing))
}
expect "the page's test program compiles" compile_shop_test
expect "the page's test program passes" timeout 60 "$image/shop_test"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
