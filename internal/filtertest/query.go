package filtertest

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// presentKeysAreNeverDenied tries sizes from one key on and rates from silly to
// strict: geometries at the edge are where positions run out of range.
func (c checker) presentKeysAreNeverDenied() {
	for _, n := range []uint64{1, 2, 3, 7, 64, 1000} {
		for _, fpr := range []float64{0.3, 0.01, 1e-6} {
			c.addAndAsk(n, fpr)
		}
	}
	c.addAndAsk(effort.Pick[uint64](10_000, 100_000), 0.01)
}

// addAndAsk fills a filter and asks for each key right after its Add and in the
// end.
func (c checker) addAndAsk(n uint64, fpr float64) {
	keys := c.keys(n, n)
	f := c.make(n, fpr)
	for i, k := range keys {
		if _, err := f.Add(k); err != nil {
			c.Fatalf("%d keys at rate %g: adding key %d: %v", n, fpr, i, err)
		}
		if !f.MayContain(k) {
			c.Fatalf("%d keys at rate %g: key %d, %#x, is denied right after Add", n, fpr, i, k)
		}
	}
	c.wantAll(f, keys, fmt.Sprintf("%d keys at rate %g", n, fpr))
}

// structuredKeysAreNeverDenied adds what people really have: numbers in a row,
// hashed, and the same numbers not hashed, against all advice. No rate is
// promised for the second.
func (c checker) structuredKeysAreNeverDenied() {
	n := effort.Pick[uint64](3000, 10_000)
	var hash filter.Hash
	forms := map[string]func(i uint64) filter.Key{
		"hashed numbers":           func(i uint64) filter.Key { return c.fit(hash.Uint64(i)) },
		"raw numbers":              func(i uint64) filter.Key { return filter.Key(i) },
		"raw numbers from the top": func(i uint64) filter.Key { return c.fit(^filter.Key(i)) },
		"raw multiples of 2^10":    func(i uint64) filter.Key { return c.fit(filter.Key(i << 10)) },
	}
	for name, form := range forms {
		f := c.make(n, 0.01)
		var keys []filter.Key
		for i := range n {
			switch _, err := f.Add(form(i)); {
			case err == nil:
				keys = append(keys, form(i))
			case !errors.Is(err, filter.ErrFull): // uneven keys may fill one corner
				c.Fatalf("%s: adding number %d: %v", name, i, err)
			}
		}
		c.wantAll(f, keys, name)
	}
}

// fit cuts a key to the width that the kind takes.
func (c checker) fit(k filter.Key) filter.Key {
	if c.s.KeyBits == 0 {
		return k
	}
	return k & (1<<c.s.KeyBits - 1)
}

// emptyFilterDenies allows a tenth of the asked rate, for kinds that are never
// quite empty.
func (c checker) emptyFilterDenies() {
	const probes = 10_000
	f := c.make(1000, 0.01)
	if hits := MeasureRate(f, c.stream(5), probes); hits > probes/1000 {
		c.Errorf("an empty filter says yes to %d of %d keys", hits, probes)
	}
	if info := f.Info(); info.Keys != 0 || info.FPR > 0.001 || info.Overfull {
		c.Errorf("an empty filter has %d keys, rate %g, overfull %t", info.Keys, info.FPR, info.Overfull)
	}
}

// addReportsNewKeys checks that a key that was denied is reported as new, that
// most keys are, and that a key that is in the set is not, unless copies count.
func (c checker) addReportsNewKeys() {
	const n, fpr = 10_000, 0.01
	f := c.make(n, fpr)
	keys := c.keys(3, n)
	old := 0
	for i, k := range keys {
		denied := !f.MayContain(k)
		added, err := f.Add(k)
		if err != nil {
			c.Fatalf("adding key %d: %v", i, err)
		}
		if denied && !added {
			c.Fatalf("key %d, %#x, was denied and then not reported as new", i, k)
		}
		if !added {
			old++
		}
	}
	if _, most := theory.BinomialInterval(n, fpr*(1+RateSlack), sigmas); float64(old) > most {
		c.Errorf("%d of %d new keys were not reported as new, want %.0f at most", old, n, most)
	}
	if f.Info().Duplicates != filter.DuplicatesIgnored {
		return
	}
	for i, k := range keys {
		if added, err := f.Add(k); added || err != nil {
			c.Fatalf("key %d, %#x, added again: added %t, error %v; want neither", i, k, added, err)
		}
	}
}

// fullFilterRefusesWithoutChange fills the filter far beyond what it was made
// for. Most kinds never refuse; a refusal must leave everything as it was, and so
// be repeatable.
func (c checker) fullFilterRefusesWithoutChange() {
	f := c.make(500, 0.01)
	keys := c.keys(17, 10_000)
	n := c.addWhatFits(f, keys)
	if n < 500 {
		c.Fatalf("a filter made for 500 keys is full after %d", n)
	}
	c.wantAll(f, keys[:n], "filled to the brim")
	if n == len(keys) {
		return
	}
	state, info := c.state(f), f.Info()
	if added, err := f.Add(keys[n]); added || !errors.Is(err, filter.ErrFull) {
		c.Errorf("a key that was refused, added again: added %t, error %v; want ErrFull", added, err)
	}
	done, _, err := filter.AddBatch(f, keys[n:n+1])
	if done != 0 || !errors.Is(err, filter.ErrFull) {
		c.Errorf("a key that was refused, added in a batch: done %d, error %v; want ErrFull", done, err)
	}
	c.wantSame(f, info, state, "refusing with ErrFull")
	c.wantAll(f, keys[:n], "after ErrFull")
}

// wantSame checks that f is as it was when info and state were taken.
func (c checker) wantSame(f filter.Filter, info filter.Info, state []byte, after string) {
	if got := f.Info(); !reflect.DeepEqual(got, info) {
		c.Errorf("%s changed the filter: Info was\n%+v and is\n%+v", after, info, got)
	}
	if !bytes.Equal(c.state(f), state) {
		c.Errorf("%s changed the filter: its snapshot is another", after)
	}
}
