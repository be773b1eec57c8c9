#!/usr/bin/env bash
# Walks through the verbs for filters, on generated keys, in a temporary folder. The
# argument is the folder of the tool, bin unless said otherwise. Stops with an error if
# a command fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="$(cd "${1:-bin}" && pwd):$PATH"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Prints a command, runs it, and explains its output.
show() {
  printf '\n$ %s\n' "$1"
  bash -c "$1" 2>&1
  printf '  # %s\n' "$2"
}

show 'seq 1 100000 > monday.txt; seq 60001 160000 > tuesday.txt; du -h *.txt' \
  'Two lists of 100,000 keys, 40,000 of them in both. Yours may be URLs, users, hashes.'

show 'everbloom plan --items 200k --fpr 1%' \
  'The kinds of filter that would do, best first, before a byte is spent.'

show 'everbloom build -o monday.bloom --items 200k --fpr 1% monday.txt' \
  'One key per line. A fraction of the list, and room for another 100,000 keys.'

show 'everbloom build -o tuesday.bloom --items 200k --fpr 1% < tuesday.txt' \
  'Pipes do as well. The same --items and --fpr, so that the two can be merged.'

show 'everbloom query -c monday.bloom monday.txt' \
  'All of the 100,000 keys are found: there are no false negatives.'

show 'echo 2024 | everbloom query monday.bloom; echo "exit status $?"' \
  'Like grep: prints the lines that may be in the set, and tells by its exit status.'

show 'echo alice | everbloom query monday.bloom; echo "exit status $?"' \
  'An answer of no is certain.'

show 'echo alice | everbloom add monday.bloom; echo alice | everbloom query monday.bloom' \
  'Keys can be added at any time. The file is replaced as a whole or not at all.'

show 'everbloom union -o either.bloom monday.bloom tuesday.bloom' \
  'Merged without the lists: about 160,000 keys are in one or the other.'

show 'everbloom intersect -o both.bloom monday.bloom tuesday.bloom; seq 60001 100000 | everbloom query -c both.bloom' \
  'All of the 40,000 common keys are found. Bits that both have by chance make it look fuller, hence "at most".'

show 'everbloom info --check either.bloom' \
  'What a file holds, checked byte by byte.'

show 'seq 500001 600000 | everbloom query -c either.bloom' \
  'False positives among 100,000 keys that are in neither list: about the rate that info shows.'

show 'seq 500001 600000 | everbloom query -v either.bloom | head -n 3' \
  'With -v the lines that certainly are new: what a crawler, a cache or a deduplicator wants to know.'

show 'everbloom plan --items 200k --fpr 1% --delete' \
  'What a set must do decides the kind: ask for --delete, --grow or --merge.'

show 'everbloom build -o users.bloom --items 200k --fpr 1% --delete monday.txt; seq 1 99000 | everbloom delete users.bloom' \
  'Kinds that delete take keys out again. This one refuses keys that are not in the set; the plan says what others do.'

show 'everbloom query -c users.bloom monday.txt; seq 99001 100000 | everbloom query -c users.bloom' \
  'The thousand that are left are all found; of those deleted hardly one is a false positive.'

printf '\nNext: everbloom --help, or everbloom bench to measure all kinds on this machine.\n'
