#!/usr/bin/env bash
# Runs everything that must hold before a change is merged, and stops at the
# first failure. CI runs exactly this.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() {
  printf '== %s\n' "$1"
  shift
  "$@"
}

# The race detector links C code; everything else is plain Go.
need_c_compiler() {
  local cc
  read -r cc _ < <(go env CC)
  command -v "$cc" >/dev/null && return
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "check: no C compiler ($cc), which the race detector needs: install gcc and the C library headers" >&2
    return 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev
}

formatted() {
  bin/golangci-lint fmt --diff || {
    echo 'check: not formatted: run make fmt' >&2
    return 1
  }
}

lint() {
  bin/golangci-lint run ./...
  (cd benchmarks && ../bin/golangci-lint run ./...)
}

vet() {
  go vet ./...
  go -C benchmarks vet ./...
}

arm64() {
  GOARCH=arm64 go vet ./...
  GOARCH=arm64 go build ./...
}

# Every experiment with its quick parameters: what was reproduced once must stay
# so. The results go to a folder of their own, so that nothing stored is taken for
# them.
experiments() {
  local out status=0
  out=$(mktemp -d)
  go run ./cmd/everbloom lab run all --strict --quiet --out "$out" || status=$?
  rm -rf "$out"
  return "$status"
}

# The lab asks the same questions whatever the filters are made of.
without_lab() {
  local packages
  packages=$(go list ./... | grep -v '/lab\(/\|$\)')
  # shellcheck disable=SC2086 # one word per package
  go test "$@" $packages
}

step 'C compiler' need_c_compiler
step 'linter' make -s bin/golangci-lint
step 'format' formatted
step 'vet' vet
step 'lint' lint
step 'test, race detector' go test -race -shuffle=on ./...
step 'test, benchmarks' go -C benchmarks test ./...
step 'test, without assembly' without_lab -tags purego
# Only these have assembly.
step 'test, without assembly, race detector' go test -race -tags purego -short ./filter/bloom ./filter/dleft ./filter/evergreen
export CGO_ENABLED=0
GOARCH=386 step 'vet, 32 bits' go vet ./...
GOARCH=386 step 'test, 32 bits' without_lab -short
step 'vet and build, arm64' arm64
step 'experiments, quick' experiments
printf '== all checks passed in %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
