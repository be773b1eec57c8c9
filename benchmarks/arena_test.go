package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/timing"
)

func init() { bufferKeys, weighedKeys = 1<<13, 20_000 }

// quick are options for tests that look at what is counted, not at times.
func quick() options {
	return options{
		n: []uint64{1000}, fprs: []float64{0.01}, sizes: []int{8}, threads: []int{1},
		rounds: 2, pass: time.Microsecond, probes: 1000, mem: 1 << 30,
	}
}

// exact returns a contender that is a map, to be spoilt by a test.
func exact(name string, spoil func(*set)) contender {
	return contender{name: name, peak: 400, build: func(w request) (set, error) {
		s, err := newMap(w)
		spoil(&s)
		return s, err
	}}
}

// play lets contenders meet and returns the report and what was logged.
func play(t *testing.T, opts options, all ...contender) (report, string) {
	t.Helper()
	var out, log strings.Builder
	r := &runner{opts: opts, chosen: all, out: &printer{w: &out}, log: &printer{w: &log}}
	timing.Pinned(func() { r.measure(request{opts.n[0], opts.fprs[0], opts.sizes[0]}) })
	return r.report, log.String()
}

func TestHonestContenderIsMeasuredInEveryRound(t *testing.T) {
	r, _ := play(t, quick(), exact("good", func(*set) {}))
	if len(r.Broken) > 0 {
		t.Fatal(r.Broken)
	}
	x := r.Results[0]
	for _, o := range []op{insert, hit, miss, remove} {
		if len(x.Nanos[o]) != 2 || x.Nanos[o][0] <= 0 {
			t.Errorf("%s: samples %v", o, x.Nanos[o])
		}
	}
	if x.Facts.Positive != 0 || x.Facts.Probes != 1000 || x.Facts.Missed != 0 {
		t.Errorf("facts %+v", x.Facts)
	}
}

func TestBrokenPromisesAreReported(t *testing.T) {
	for want, spoil := range map[string]func(*set){
		"FALSE NEGATIVES: spoilt, n = 1 k, asked 1 %: after filling: 1 of 1000": func(s *set) {
			has := s.has
			s.has = func(b block) int { return max(0, has(b)-1) }
		},
		"after deleting others": func(s *set) { s.del = func(b block) int { s.reset(); return b.len() } },
		"deleting: 500 of 500":  func(s *set) { s.del = func(block) int { return 0 } },
	} {
		r, log := play(t, quick(), exact("spoilt", spoil))
		if !strings.Contains(strings.Join(r.Broken, "\n"), want) || !strings.Contains(log, want) {
			t.Errorf("no %q: reported %q, logged %q", want, r.Broken, log)
		}
	}
}

func TestFalseNegativesByDesignBreakNoPromise(t *testing.T) {
	c := exact("forgetful", func(s *set) { s.has = func(b block) int { return b.len() / 2 } })
	c.traits = mayMiss
	r, _ := play(t, quick(), c)
	if len(r.Broken) > 0 || r.Results[0].Facts.Missed != 0.5 {
		t.Errorf("reported %q, missed %g", r.Broken, r.Results[0].Facts.Missed)
	}
}

func TestRefusedKeysAreCountedAndNotPromised(t *testing.T) {
	r, _ := play(t, quick(), exact("full", func(s *set) {
		add := s.add
		s.add = func(b block) int { return add(b.slice(0, b.len()-10)) }
	}))
	if x := r.Results[0]; len(r.Broken) > 0 || x.Facts.Refused != 10 || x.Facts.Missed != 0.01 {
		t.Errorf("reported %q, facts %+v", r.Broken, x.Facts)
	}
}

func TestContenderThatPanicsFallsAlone(t *testing.T) {
	asked := 0
	bad := exact("bad", func(s *set) {
		has := s.has
		s.has = func(b block) int {
			if asked++; asked > 5 {
				panic("out of breath")
			}
			return has(b)
		}
	})
	r, _ := play(t, quick(), bad, exact("good", func(*set) {}))
	if why := r.Results[0].Skipped; why != "panics: out of breath" {
		t.Errorf("skipped: %q", why)
	}
	if good := r.Results[1]; good.Skipped != "" || len(good.Nanos[hit]) != 2 {
		t.Errorf("the other one: skipped %q, samples %v", good.Skipped, good.Nanos[hit])
	}
}

func TestContenderThatCannotBeBuiltIsSkipped(t *testing.T) {
	c := contender{name: "none", peak: 1, build: func(request) (set, error) { return set{}, errors.New("not today") }}
	r, log := play(t, quick(), c)
	if r.Results[0].Skipped != "not today" || !strings.Contains(log, "none: skipped: not today") {
		t.Errorf("skipped %q, logged %q", r.Results[0].Skipped, log)
	}
}

func TestWritesComeInTheLastRounds(t *testing.T) {
	opts := quick()
	opts.rounds, opts.fills = 5, 2
	r, _ := play(t, opts, exact("good", func(*set) {}))
	x := r.Results[0]
	if len(x.Nanos[insert]) != 2 || len(x.Nanos[remove]) != 2 || len(x.Nanos[hit]) != 5 {
		t.Errorf("%d inserts, %d deletes, %d hits", len(x.Nanos[insert]), len(x.Nanos[remove]), len(x.Nanos[hit]))
	}
}

func TestSetsWithoutResetAreBuiltAnew(t *testing.T) {
	built := 0
	c := exact("single use", func(s *set) { built++; s.reset = nil })
	r, _ := play(t, quick(), c)
	if built < 5 || len(r.Broken) > 0 {
		t.Errorf("built %d times, reported %q", built, r.Broken)
	}
}

func TestUnsafeReadersTakeNoPartWithTwoThreads(t *testing.T) {
	opts := quick()
	opts.threads = []int{1, 2}
	c := exact("shy", func(*set) {})
	c.traits = loneReader
	r, _ := play(t, opts, c)
	if r.Results[0].Skipped != "" || r.Results[1].Skipped != "concurrent lookups are not safe" {
		t.Errorf("one thread: %q, two: %q", r.Results[0].Skipped, r.Results[1].Skipped)
	}
}

func TestOnlySafeContendersAreFilledByTwoThreads(t *testing.T) {
	opts := quick()
	opts.threads = []int{2}
	sync, err := byName(contenders(), "blobloom Sync")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := play(t, opts, sync, exact("map", func(*set) {}))
	if got := len(r.Results[0].Nanos[insert]); got != 2 {
		t.Errorf("the safe one has %d samples of inserts", got)
	}
	if x := r.Results[1]; len(x.Nanos[insert]) != 0 || len(x.Nanos[hit]) != 2 {
		t.Errorf("the unsafe one has %d samples of inserts, %d of hits", len(x.Nanos[insert]), len(x.Nanos[hit]))
	}
}

func TestBitsAreWhatTheHeapGrowsBy(t *testing.T) {
	c := exact("fat", func(s *set) {
		ballast := make([]byte, 1<<20)
		add := s.add
		s.add = func(b block) int { ballast[0]++; return add(b) }
	})
	r, _ := play(t, quick(), c)
	// A MiB for 1000 keys, and the map itself.
	if got, want := r.Results[0].Facts.Bits, float64(8<<20)/1000; got < want || got > want*1.1 {
		t.Errorf("%.0f bits per key, want little more than %.0f", got, want)
	}
}

func TestAllocationsAreCountedPerKey(t *testing.T) {
	var kept [][]byte
	r, _ := play(t, quick(), exact("wasteful", func(s *set) {
		has := s.has
		s.has = func(b block) int {
			addAll(b, func(k []byte) { kept = append(kept[:0], append([]byte(nil), k...), make([]byte, 1)) })
			return has(b)
		}
	}))
	got := r.Results[0].Facts.Allocs
	if got[hit] < 1.9 || got[hit] > 2.2 || got[insert] > 0.1 {
		t.Errorf("allocations per key: %v", got)
	}
}
