package main

import (
	"bufio"
	"fmt"
	"iter"
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

// A match is a contender that is a filter, with a request for it.
type match struct {
	contender
	request request
}

// matches returns every filter at both rates and key sizes, by name.
func matches() iter.Seq2[string, match] {
	return func(yield func(string, match) bool) {
		for _, c := range contenders() {
			for _, w := range []request{{testKeys, 0.01, 8}, {testKeys, 0.001, 16}} {
				if !c.traits.has(noFilter) && !yield(fmt.Sprintf("%s/%g", c.name, w.fpr), match{c, w}) {
					return
				}
			}
		}
	}
}

// filled returns the set of a contender with all keys in it.
func filled(t *testing.T, m match) (set, keyspace) {
	t.Helper()
	s, err := m.build(m.request)
	if err != nil {
		t.Fatal(err)
	}
	keys := keyspace{n: testKeys, size: m.request.size, seed: 7}
	refill(t, s, keys, addOne)
	return s, keys
}

// refill adds all keys to a set that is empty.
func refill(t *testing.T, s set, keys keyspace, add way) {
	t.Helper()
	windows := []block{newBlock(500, keys.size)}
	got, err := fill(s, add, keys, newOrder(keys.n, 1), windows, timing.Wall)
	if err != nil {
		t.Fatal(err)
	}
	if got.yes != testKeys {
		t.Fatalf("accepted %d of %d keys", got.yes, testKeys)
	}
}

// present returns how many of n keys of the set are found, in the order of filling.
func present(s set, keys keyspace, o *order, n uint64) int {
	return walk(s.has, keys, o, n, newBlock(500, keys.size), timing.Wall).yes
}

func TestContenderHoldsItsKeys(t *testing.T) {
	for name, m := range matches() {
		t.Run(name, func(t *testing.T) {
			s, keys := filled(t, m)
			got := present(s, keys, newOrder(testKeys, 2), testKeys)
			if got < testKeys && !m.traits.has(mayDeny) {
				t.Errorf("finds %d of %d keys", got, testKeys)
			}
			if got < testKeys/10 {
				t.Errorf("finds only %d of %d keys", got, testKeys)
			}
		})
	}
}

func TestContenderDeniesMostAbsentKeys(t *testing.T) {
	for name, m := range matches() {
		t.Run(name, func(t *testing.T) {
			s, keys := filled(t, m)
			b := newBlock(20_000, m.request.size)
			keys.misses(b, 1)
			limit := 0.05
			if strings.HasPrefix(m.name, "floor") {
				limit = 0.15
			}
			if rate := float64(s.has(b)) / float64(b.len()); rate > limit {
				t.Errorf("says yes to %s of absent keys, seed %d", quantity.Rate(rate), keys.seed)
			}
		})
	}
}

func TestContenderDeletes(t *testing.T) {
	for name, m := range matches() {
		t.Run(name, func(t *testing.T) {
			s, keys := filled(t, m)
			if s.del == nil {
				t.Skip("cannot delete")
			}
			const half = testKeys / 2
			o := newOrder(testKeys, 2)
			if got := walk(s.del, keys, o, half, newBlock(500, m.request.size), timing.Wall).yes; got != half {
				t.Errorf("found %d of %d keys to delete", got, half)
			}
			if got := present(s, keys, o, half); got != half {
				t.Errorf("finds %d of the %d keys that stay", got, half)
			}
			// With a full filter most regions of the deletable one are not clean.
			gone := half - present(s, keys, newOrder(testKeys, 2), half)
			if gone < half*8/10 && m.name != "Boom deletable" || gone == 0 {
				t.Errorf("only %d of %d deleted keys are gone", gone, half)
			}
		})
	}
}

func TestResetEmptiesAndCanBeFilledAgain(t *testing.T) {
	for name, m := range matches() {
		t.Run(name, func(t *testing.T) {
			s, keys := filled(t, m)
			if s.reset == nil {
				t.Skip("has no reset")
			}
			s.reset()
			if !m.traits.has(static) {
				if got := present(s, keys, newOrder(testKeys, 1), testKeys); got > 0 {
					t.Errorf("%d keys are left after reset", got)
				}
			}
			refill(t, s, keys, addOne)
			if got := present(s, keys, newOrder(testKeys, 1), testKeys); got < testKeys && !m.traits.has(mayDeny) {
				t.Errorf("finds %d of %d keys after reset and filling", got, testKeys)
			}
		})
	}
}

func TestBatchesAnswerAsSingleCalls(t *testing.T) {
	for name, m := range matches() {
		t.Run(name, func(t *testing.T) {
			s, keys := filled(t, m)
			if s.batch == nil {
				t.Skip("has no batches")
			}
			other, err := m.build(m.request)
			if err != nil {
				t.Fatal(err)
			}
			refill(t, other, keys, addBatch(64))
			b := newBlock(10_001, m.request.size) // no multiple of a batch
			keys.misses(b.slice(0, 8000), 1)
			keys.hits(b.slice(8000, b.len()), 1)
			want := s.has(b)
			if got := other.has(b); got != want {
				t.Errorf("filled in batches it says yes %d times, one by one %d times", got, want)
			}
			if has := other.batch(64).has; has != nil && has(b) != want {
				t.Errorf("a batch says yes %d times, single calls %d times", has(b), want)
			}
		})
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
		a := newArena(request{20_000, 0.001, 8}, options{threads: []int{1}, probes: 1, clock: timing.Wall})
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

func TestByNameNamesTheUnknown(t *testing.T) {
	if _, err := byName(contenders(), "missing"); err == nil || !strings.Contains(err.Error(), `"missing"`) {
		t.Errorf("error %v", err)
	}
}

func TestDeletableRegionsFitTheFilter(t *testing.T) {
	for n := uint64(10); n < 100_000; n = n*3/2 + 1 {
		for _, fpr := range []float64{0.01, 0.001} {
			w := request{n, fpr, 8}
			if r := boomRegions(w); r < 1 {
				t.Errorf("n = %d, rate %g: %d regions", n, fpr, r)
			}
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
