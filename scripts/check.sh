#!/usr/bin/env bash
# Runs everything that must hold before a change is merged, and stops at the first
# failure: the tests first, in their short forms, the linters last. CI runs exactly
# this. A duration is for two idle cores with an empty build cache and, behind the
# comma, with a filled one.
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
unset EVERBLOOM_LONG

races() {
  local packages
  packages=$(concurrent)
  # shellcheck disable=SC2086 # one word per package
  go test -race "${test_flags[@]}" $packages
  go test -race "${test_flags[@]}" -run "$sharing" "$catalog"
}

vet() {
  go vet ./...
  go -C benchmarks vet ./...
  go -C server/clienttest vet ./...
  go -C server/browsertest vet ./...
  word32 vet ./...
  GOARCH=arm64 CGO_ENABLED=0 go vet ./...
  GOARCH=arm64 CGO_ENABLED=0 go build ./...
}

formatted() {
  bin/golangci-lint fmt --diff || {
    echo 'not formatted: run make fmt' >&2
    return 1
  }
}

lint() {
  bin/golangci-lint run ./...
  (cd benchmarks && ../bin/golangci-lint run ./...)
  (cd server/clienttest && ../../bin/golangci-lint run ./...)
  (cd server/browsertest && ../../bin/golangci-lint run ./...)
}

echo 'make check takes some 10 minutes on two idle cores, with filled caches 6.'
step 'C compiler' 'at once if there is one' need_c_compiler
step 'tests' '3 min, 2 min' go test "${test_flags[@]}" ./...
step 'tests, race detector' '3 min, 2 min' races
step 'tests, no assembly' '15 s, 5 s' go test -tags purego "${test_flags[@]}" "${portable[@]}"
step 'tests, no assembly, race detector' '15 s, 5 s' go test -race -tags purego "${test_flags[@]}" "${unassembled[@]}"
step 'tests, 32 bits' '40 s, 15 s' word32 test "${test_flags[@]}" "${filters[@]}"
step 'tests, benchmarks' '10 s, 5 s' go -C benchmarks test "${test_flags[@]}" ./...
step 'tests, clients of Redis' '1 min, 10 s' go -C server/clienttest test "${test_flags[@]}" ./...
step 'browser' 'at once if there is one' want_browser
step 'tests, console in a browser' '1 min, 15 s' go -C server/browsertest test "${test_flags[@]}" ./...
step 'experiments, quick' '30 s, 25 s' experiments
step 'vet and other platforms' '1 min, 5 s' vet
step 'linter' '2 min, nothing' make -s bin/golangci-lint
step 'format' '5 s' formatted
step 'lint' '1 min, 5 s' lint
echo 'all checks passed'
