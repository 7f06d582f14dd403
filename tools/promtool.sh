#!/usr/bin/env bash
# Prints the path of a promtool, which checks Prometheus' rules: the installed one, or else that of Debian's package
# `prometheus`, which is only unpacked into build/promtool/. Installing that package would start a server and leave it.
set -u
cd "$(dirname "$0")/.." || exit 2

command -v promtool && exit 0
folder=$PWD/build/promtool
promtool=$folder/promtool
if [ ! -x "$promtool" ]; then
  unpacked=$(mktemp -d) || exit 1
  trap 'rm -rf "$unpacked"' EXIT
  (cd "$unpacked" && apt-get download --quiet --option APT::Sandbox::User=root prometheus) >&2 &&
    dpkg-deb --fsys-tarfile "$unpacked"/prometheus_*.deb | tar -x -C "$unpacked" ./usr/bin/promtool &&
    mkdir -p "$folder" && mv -f "$unpacked/usr/bin/promtool" "$promtool" || {
    echo "promtool.sh: no promtool: install Debian's package prometheus, or let apt-get download it" >&2
    exit 1
  }
fi
echo "$promtool"
