#!/usr/bin/env bash
# Runs every fuzz target of the module, one after the other, for the given time each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fuzztime=${1:-30s}

for pkg in $(go list ./...); do
  names=$(go test -list '^Fuzz' "$pkg")
  for target in $(grep '^Fuzz' <<<"$names"); do
    printf '== %s %s\n' "$pkg" "$target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "$pkg"
  done
done
