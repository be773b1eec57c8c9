package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// testKeys fill the 2048 slots of the cuckoo filter that has no say in its size to 88 %.
const testKeys = 1800

// refill adds all keys to a set that is empty.
func refill(t *testing.T, s set, keys keyspace, add way) {
	t.Helper()
	got, err := fill(s, add, keys, newOrder(keys.n, 1), []block{newBlock(500, keys.size)})
	if err != nil || got.yes != testKeys {
		t.Fatalf("accepted %d of %d keys: %v", got.yes, testKeys, err)
	}
}

// present returns how many of n keys of the set are found, in the order of filling.
func present(s set, keys keyspace, n uint64) int {
	return walk(s.has, keys, newOrder(testKeys, 1), n, newBlock(500, keys.size), timing.Wall).yes
}

// TestContendersDoWhatTheyAreTold has every filter at both rates and key sizes. That they
// find their keys, TestEveryContenderGoesThroughARun shows.
func TestContendersDoWhatTheyAreTold(t *testing.T) {
	for _, c := range contenders() {
		for _, w := range []request{{testKeys, 0.01, 8}, {testKeys, 0.001, 16}} {
			if !c.traits.has(noFilter) {
				t.Run(fmt.Sprintf("%s/%g", c.name, w.fpr), func(t *testing.T) { tryContender(t, c, w) })
			}
		}
	}
}

// tryContender asks a set for absent keys, and in batches, and then empties it.
func tryContender(t *testing.T, c contender, w request) {
	t.Helper()
	s, err := c.build(w)
	other, err2 := c.build(w)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	keys := keyspace{n: testKeys, size: w.size, seed: 7}
	refill(t, s, keys, addOne)
	b := newBlock(20_001, w.size) // no multiple of a batch
	keys.misses(b, 1)
	limit := 0.05
	if strings.HasPrefix(c.name, "floor") {
		limit = 0.15
	}
	hits := s.has(b)
	if rate := float64(hits) / float64(b.len()); rate > limit {
		t.Errorf("finds %s of absent keys, seed %d", quantity.Rate(rate), keys.seed)
	}
	if s.batch != nil {
		refill(t, other, keys, addBatch(64))
		if got := other.has(b); got != hits {
			t.Errorf("filled in batches it finds %d absent keys, one by one %d", got, hits)
		}
		if has := other.batch(64).has; has != nil && has(b) != hits {
			t.Errorf("a batch finds %d absent keys, single calls %d", has(b), hits)
		}
	}
	if s.del != nil {
		const half = testKeys / 2
		walk(s.del, keys, newOrder(testKeys, 1), half, newBlock(500, w.size), timing.Wall)
		// With a full filter most regions of the deletable one are not clean.
		if gone := half - present(s, keys, half); gone < half*8/10 && c.name != "Boom deletable" || gone == 0 {
			t.Errorf("only %d of %d deleted keys are gone", gone, half)
		}
	}
	if s.reset != nil && !c.traits.has(static) {
		if s.reset(); present(s, keys, testKeys) > 0 {
			t.Error("keys are left after reset")
		}
	}
}

func TestContendersCanBeToldApartAndBudgeted(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range contenders() {
		if seen[c.name] || c.peak <= 0 {
			t.Errorf("%s: name seen before: %v, peak %g", c.name, seen[c.name], c.peak)
		}
		seen[c.name] = true
	}
}

func TestMeasuredBitsStayUnderThePeak(t *testing.T) {
	for _, c := range contenders() {
		a := newArena(request{20_000, 0.001, 8}, options{threads: []int{1}, probes: 1})
		e, err := a.admit(c)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if e.facts.Bits > e.peak {
			t.Errorf("%s: %.1f bits per key, peak %g", c.name, e.facts.Bits, e.peak)
		}
	}
}

func TestUnknownRateIsAnErrorForContendersSizedInBits(t *testing.T) {
	for _, name := range []string{"parquet-go SBBF", "pebble", "linvon cuckoo 10/13b"} {
		c, err := byName(contenders(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.build(request{100, 0.02, 8}); err == nil || !strings.Contains(err.Error(), "0.02") {
			t.Errorf("%s at 2 %%: error %v", name, err)
		}
	}
}

// TestAdaptersCallFiltersDirectly holds what set's comment says: where addAll or count is used, the
// compiler must have inlined it, or the call of the filter in it goes through a pointer.
func TestAdaptersCallFiltersDirectly(t *testing.T) {
	program := filepath.Join(t.TempDir(), "b")
	out, err := exec.Command("go", "build", "-gcflags=-m", "-o", program, ".").CombinedOutput()
	if err != nil {
		t.Skipf("go build: %v", err)
	}
	symbols, err := exec.Command("go", "tool", "nm", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Where an adapter is inlined into the table of contenders, its closures are not.
	for _, called := range regexp.MustCompile(`main\.init\..*func\d+\.\d+\.\d+`).FindAllString(string(symbols), -1) {
		t.Errorf("%s is called for every key", called)
	}
	files, _ := filepath.Glob("*.go")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "contender.go" {
			continue
		}
		for line, helper := range helperCalls(t, file) {
			if !inlined(string(out), file, line, helper) {
				t.Errorf("%s:%d: %s is not inlined", file, line, helper)
			}
		}
	}
}

// helperCalls returns the lines of a file that call one of the two helpers.
func helperCalls(t *testing.T, file string) map[int]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls, lines := map[int]string{}, bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		for _, helper := range []string{"addAll", "count"} {
			if strings.Contains(lines.Text(), helper+"(b, func") || strings.Contains(lines.Text(), helper+"(run, func") {
				calls[n] = helper
			}
		}
	}
	return calls
}

// inlined tells whether the compiler says so.
func inlined(messages, file string, line int, helper string) bool {
	at := fmt.Sprintf("%s:%d:", file, line)
	for message := range strings.Lines(messages) {
		if strings.Contains(message, at) && strings.HasSuffix(strings.TrimSpace(message), "inlining call to "+helper) {
			return true
		}
	}
	return false
}
