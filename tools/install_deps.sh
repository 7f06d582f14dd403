#!/usr/bin/env bash
# Installs the Debian packages that Anteroom needs, by name, with apt-get, as root or through sudo.
#
#   tools/install_deps.sh build test     installs what is missing of these sets
#   tools/install_deps.sh --missing build   only names what is missing; exit status 1 if anything is
#
# Sets: build (programs and library), test (make test, make bench), check (make check), redis (make bench-redis),
# coverage (make coverage), fuzz (make fuzz; without it make test does all else).
# When everything is there it does nothing, in some milliseconds. Where there is no dpkg it takes the packages for
# present: the compiler will tell.
set -u

packages_of() {
  case $1 in
    build) echo g++ pkg-config libuv1-dev libabsl-dev libxxhash-dev libssl-dev nlohmann-json3-dev libcli11-dev \
      libtomlplusplus-dev prometheus-cpp-dev ;;
    test) echo doctest-dev libbenchmark-dev libhiredis-dev strace ;;
    check) echo clang-format-14 clang-tidy-14 ;;
    redis) echo redis-server ;;
    coverage) echo clang-19 libclang-rt-19-dev llvm-19 ;;
    fuzz) echo clang-19 libclang-rt-19-dev ;;
    *)
      echo "install_deps.sh: no such set: $1 (build, test, check, redis, coverage, fuzz)" >&2
      return 2
      ;;
  esac
}

only_name=
if [ "${1:-}" = --missing ]; then
  only_name=1
  shift
fi

wanted=()
for set_name in "$@"; do
  names=$(packages_of "$set_name") || exit 2
  read -r -a names_of_set <<<"$names"
  wanted+=("${names_of_set[@]}")
done
[ ${#wanted[@]} -gt 0 ] || exit 0
command -v dpkg-query >/dev/null || exit 0

missing=()
installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null)
for package in "${wanted[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ -n "$only_name" ]; then
  echo "missing packages: ${missing[*]}" >&2
  echo "install them with: make deps" >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "missing packages: ${missing[*]}" >&2
    echo "neither root nor sudo here; install them with: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
  [ -t 0 ] || as_root+=(-n)
fi

run() {
  echo "+ $*" >&2
  "$@" </dev/null
}

install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
  apt-get install --yes --quiet --no-install-recommends "${missing[@]}")
echo "Installing missing packages: ${missing[*]}" >&2
# The package lists may be absent or old on a fresh machine; they are fetched only when the first try fails.
run "${install[@]}" >&2 && exit 0
echo "Fetching the package lists, then once more." >&2
run "${as_root[@]}" apt-get update --quiet >&2 || exit 1
run "${install[@]}" >&2
