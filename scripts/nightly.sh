#!/usr/bin/env bash
# Runs all tests in their long forms, every fuzz target for a minute, and the
# experiments, and stops at the first failure.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
export EVERBLOOM_LONG=1

# The lab asks the same questions whatever the filters are made of.
without_lab() {
  local packages
  packages=$(go list ./... | grep -v '/lab\(/\|$\)')
  # shellcheck disable=SC2086 # one word per package
  "$@" "${test_flags[@]}" $packages
}

echo 'make nightly takes about an hour on two idle cores.'
step 'C compiler' 'at once if there is one' need_c_compiler
step 'long tests' '5 min' go test "${test_flags[@]}" ./...
step 'long tests, race detector' '8 min' go test -race "${test_flags[@]}" ./...
step 'long tests, without assembly' '4 min' without_lab go test -tags purego
step 'long tests, no assembly, race' '2 min' go test -race -tags purego "${test_flags[@]}" "${assembly[@]}"
step 'long tests, 32 bits' '5 min' without_lab word32 test
step 'long tests, benchmarks' '1 min' go -C benchmarks test "${test_flags[@]}" ./...
step 'long tests, clients of Redis' '1 min' go -C server/clienttest test "${test_flags[@]}" ./...
step 'experiments, quick' '30 s' experiments
step 'fuzz' 'a minute for each target' scripts/fuzz.sh 1m
echo 'all nightly checks passed'
