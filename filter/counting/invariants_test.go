package counting

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// TestInvariantsHoldThroughAnything changes filters of odd shapes at random,
// against the rules, too, and checks them after each step.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []Shape{
		{Counters: 1, Hashes: 1, CounterBits: 2},
		{Counters: 33, Hashes: 3, CounterBits: 2},
		{Counters: 65, Hashes: 3, CounterBits: 4},
		{Counters: 1000, Hashes: 4, CounterBits: 8},
		{Counters: 127, Hashes: 64, CounterBits: 4},
	} {
		rng := rand.New(rand.NewPCG(s.Counters, 1))
		f := mustBuild(t, s)
		for step := range 600 {
			what := change(t, rng, f)
			if err := f.check(); err != nil {
				t.Fatalf("%+v after step %d, %s: %v", s, step, what, err)
			}
		}
	}
}

func mustBuild(t *testing.T, s Shape) *Filter {
	t.Helper()
	f, err := Build(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// change does something to f and says what. Keys are few, so that they come back.
func change(t *testing.T, rng *rand.Rand, f *Filter) string {
	t.Helper()
	key := func() filter.Key { return filter.Key(rng.Uint64N(40) * mixed) }
	keys := make([]filter.Key, rng.IntN(20))
	for i := range keys {
		keys[i] = key()
	}
	other := mustBuild(t, f.Shape())
	switch what := rng.IntN(40); {
	case what < 8:
		f.AddBatch(keys)
		return "add batch"
	case what < 36:
		k := key()
		return fmt.Sprintf("delete %#x: %v", k, f.Delete(k))
	case what < 38:
		other.AddBatch(keys)
		return fmt.Sprintf("union: %v", f.Union(other))
	case what < 39:
		return fmt.Sprintf("union with itself: %v", f.Union(f))
	default:
		other.Union(f)
		other.AddBatch(keys)
		return fmt.Sprintf("intersect: %v", f.Intersect(other))
	}
}

// mixed spreads small numbers over 64 bits.
const mixed = 0x9E3779B97F4A7C15

func TestChecksFindDamage(t *testing.T) {
	for want, damage := range map[string]func(f *Filter){
		"above zero":            func(f *Filter) { f.positive++ },
		"saturated":             func(f *Filter) { f.saturated++ },
		"beyond counter 17":     func(f *Filter) { f.words[1] |= 1 << 40; f.recount() },
		"the sum of all":        func(f *Filter) { f.words[0]++; f.recount() },
		"2 hashes for each":     func(f *Filter) { f.keys = 1 },
		"Hashes: 0, must be 1":  func(f *Filter) { f.hashes = 0 },
		"CounterBits: 5, must ": func(f *Filter) { f.width = 5 },
	} {
		f := mustBuild(t, Shape{Counters: 17, Hashes: 2, CounterBits: 4})
		if err := f.check(); err != nil {
			t.Fatal(err)
		}
		damage(f)
		if err := f.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestPicture draws small filters: what counts where never changes.
func TestPicture(t *testing.T) {
	var hash filter.Hash
	for width, want := range map[int]string{
		2: pictureOf2,
		4: pictureOf4,
		8: pictureOf4,
	} {
		f := mustBuild(t, Shape{Counters: 64, Hashes: 3, CounterBits: width})
		for range 2 {
			f.Add(hash.String("hello"))
		}
		for range 3 {
			f.Add(hash.String("world"))
		}
		if got := draw(f); got != want {
			t.Errorf("%d bits:\n%s\nwant:\n%s", width, got, want)
		}
	}
}

func draw(f *Filter) string {
	var b strings.Builder
	for i := range f.counters {
		if v := f.Counter(i); v > 0 {
			fmt.Fprint(&b, v)
		} else {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// The positions are those of package bloom's picture.
const (
	pictureOf2 = "....................3.3..........................3.2..........2."
	pictureOf4 = "....................3.5..........................3.2..........2."
)
