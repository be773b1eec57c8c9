# What check.sh and nightly.sh share: both source this file and then run steps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# go vet is a step of its own, and a debugger needs no test binary. The timeout is
# for tests that hang: a loaded machine must not hit it.
test_flags=(-vet=off '-ldflags=-s -w' -shuffle=on -timeout 90m)

# The packages with assembly, into which the race detector does not see.
assembly=(./filter/bloom ./filter/dleft ./filter/evergreen ./filter/perennial ./internal/line)

# The packages whose code depends on the tag purego, and the one that tries all kinds.
portable=("${assembly[@]}" ./internal/kinds ./internal/frame ./internal/mem)

# The filters and what they are made of: here the size of a word matters most. Their
# tests run the checks of internal/filtertest; that these find faults, the plain build shows.
filters=(. ./filter/... ./internal/kinds ./internal/bitvec ./internal/frame ./internal/line ./internal/mem ./internal/packed)

# Without assembly the race detector sees all that these do, so that make check
# runs them in that variant only. dleft has no concurrent writers.
unassembled=(./filter/bloom ./filter/evergreen ./filter/perennial)

# What these have for several goroutines, internal/kinds tries with every kind.
tried=(./filter/partition ./internal/filtertest)

# concurrent lists the packages in which goroutines start, in their code or tests, the
# one that tries all kinds, and the tool, which looks at its work from a second
# goroutine. Experiments have goroutines in their trials only.
concurrent() {
  {
    grep -rlE --include='*.go' --exclude-dir=benchmarks --exclude-dir=clienttest --exclude-dir=browsertest --exclude-dir=testdata '^\s*go \w|\.Go\(' . | xargs dirname
    printf '%s\n' ./cmd/everbloom ./internal/kinds
  } | sort -u | grep -vxF -f <(printf '%s\n' "${unassembled[@]}" "${tried[@]}"; trials)
}

# The same tests with words of 32 bits.
word32() { CGO_ENABLED=0 GOARCH=386 go "$@"; }

# trials lists the packages of experiments, whose trials run in the tests of the catalog,
# and sharing those tests there that have several workers.
trials() { sed -n 's|^\t".*/\(internal/lab/.*\)"$|./\1|p' "$catalog/catalog.go"; }
catalog=./internal/lab/catalog
sharing='^Test(TrialsDoNotRace|ResultsDependOnTheSeedOnly)$'

scratch=$(mktemp -d)
current=''
trap finish EXIT

# step NAME DURATION COMMAND... says what begins and how long it takes on two idle
# cores, runs it, and says how long it took.
step() {
  current=$1
  printf '== %s: %s\n' "$1" "$2"
  local TIMEFORMAT="   $1: %0R s, %0U s of processor time"
  time "${@:3}"
  current=''
}

# finish names the step that failed.
finish() {
  local status=$?
  rm -rf "$scratch"
  [[ -z $current ]] || printf '\n%s: FAILED in step "%s"\n' "$(basename "$0")" "$current" >&2
  printf '%s: %d s\n' "$(basename "$0")" "$SECONDS"
  exit "$status"
}

# The race detector links C code; everything else is plain Go.
need_c_compiler() {
  local cc
  read -r cc _ < <(go env CC)
  command -v "$cc" >/dev/null && return
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo "no C compiler ($cc), which the race detector needs: install gcc and the C library headers" >&2
    return 1
  fi
  echo "no C compiler ($cc), which the race detector needs: installing the packages gcc and libc6-dev"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev
}

# The browser that looks at the console. Where it cannot be had, its tests are skipped, and
# say so.
want_browser() {
  command -v chromium >/dev/null && return
  if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    echo 'NOT TESTED: there is no chromium to look at the console with: install it' >&2
    return
  fi
  echo 'no chromium, which looks at the console: installing the package chromium, some 300 MB'
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium ||
    echo 'NOT TESTED: chromium cannot be installed' >&2
}

# Every experiment with its quick parameters: what was reproduced once must stay
# so. The results go to a folder of their own, so that nothing stored is taken for
# them.
experiments() {
  go build '-ldflags=-s -w' -o "$scratch/everbloom" ./cmd/everbloom
  "$scratch/everbloom" lab run all --strict --quiet --out "$scratch/results"
}
