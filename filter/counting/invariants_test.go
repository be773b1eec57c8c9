package counting

import (
	"fmt"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestInvariantsHoldThroughAnything has odd shapes of all widths.
func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []Shape{
		{Counters: 1, Hashes: 1, CounterBits: 2},
		{Counters: 33, Hashes: 3, CounterBits: 2},
		{Counters: 65, Hashes: 3, CounterBits: 4},
		{Counters: 1000, Hashes: 4, CounterBits: 8},
		{Counters: 127, Hashes: 64, CounterBits: 4},
	} {
		filtertest.Invariants(t, s.Counters, 600, func() *Filter { return filtertest.Make(t, Build, s) }, (*Filter).check)
	}
}

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
		f := filtertest.Make(t, Build, Shape{Counters: 17, Hashes: 2, CounterBits: 4})
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
		f := filtertest.Make(t, Build, Shape{Counters: 64, Hashes: 3, CounterBits: width})
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
