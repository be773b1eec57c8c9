package perennial

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// A churn adds and deletes keys at random, so that the number of keys goes up and down
// between none and most.
type churn struct {
	f       *Filter
	rng     *rand.Rand
	keys    []filter.Key
	most    int
	repeats bool // one key in four is one that is there already
	falls   bool
}

func (c *churn) step(t *testing.T) {
	t.Helper()
	if len(c.keys) == 0 || len(c.keys) >= c.most {
		c.falls = len(c.keys) > 0
	}
	if add := c.rng.IntN(10) < 7; add == c.falls && len(c.keys) > 0 {
		j := c.rng.IntN(len(c.keys))
		if err := c.f.Delete(c.keys[j]); err != nil {
			t.Fatalf("delete %#x, one of %d keys: %v", c.keys[j], len(c.keys), err)
		}
		c.keys[j] = c.keys[len(c.keys)-1]
		c.keys = c.keys[:len(c.keys)-1]
		return
	}
	k := filter.Key(c.rng.Uint64())
	if c.repeats && len(c.keys) > 0 && c.rng.IntN(4) == 0 {
		k = c.keys[c.rng.IntN(len(c.keys))]
	}
	if _, err := c.f.Add(k); err != nil {
		t.Fatalf("add to %d keys: %v", len(c.keys), err)
	}
	c.keys = append(c.keys, k)
}

func (c *churn) verify(t *testing.T) {
	t.Helper()
	if err := c.f.check(); err != nil {
		t.Fatal(err)
	}
	if c.f.Len() != uint64(len(c.keys)) {
		t.Fatalf("%d keys, want %d", c.f.Len(), len(c.keys))
	}
	for _, k := range c.keys {
		if !c.f.MayContain(k) {
			t.Fatalf("%#x, one of %d keys in %d lines, is absent", k, len(c.keys), c.f.ring.Load().layout.total)
		}
	}
}

// ofWidth returns a filter of any width, also of less than a Shape may have.
func ofWidth(t *testing.T, width, salt uint64) *Filter {
	t.Helper()
	r, err := newRing(Shape{Lines: minLines, Width: width, Fill: defaultFill, FPR: 0.5, Salt: salt}, minLines)
	if err != nil {
		t.Fatal(err)
	}
	f := new(Filter)
	f.ring.Store(r)
	return f
}

func runChurn(t *testing.T, seed uint64, width uint64, most, operations int) *Filter {
	t.Helper()
	f := ofWidth(t, width, seed)
	c := churn{f: f, rng: rand.New(rand.NewPCG(seed, 1)), most: most, repeats: seed%2 == 1}
	for i := range operations {
		c.step(t)
		if i%997 == 0 {
			c.verify(t)
		}
	}
	c.verify(t)
	return f
}

// TestKeysWithoutBitsAreNeverLost has slots of so few bits that most entries become voids
// and then extras, which no filter that is asked for has before millions of keys.
func TestKeysWithoutBitsAreNeverLost(t *testing.T) {
	effort.OneGoroutine(t)
	extras := 0
	for seed := range uint64(effort.PickVariant(1, 2, 60)) {
		f := runChurn(t, seed, 4, 30_000, effort.PickVariant(80_000, 80_000, 1_000_000))
		extras += len(f.ring.Load().extras.Load().all())
	}
	if extras == 0 {
		t.Error("there was no extra")
	}
}

// TestExtrasReturnToTheRing deletes the newest keys first, so that the oldest, which have the
// fewest bits, stay until the ring is small again.
func TestExtrasReturnToTheRing(t *testing.T) {
	effort.PlainOnly(t)
	f := ofWidth(t, 6, 1)
	stream := filtertest.Stream{Seed: 1}
	const most, left = 150_000, 2_000
	for n := range uint64(most) {
		if _, err := f.Add(stream.Present(n)); err != nil {
			t.Fatal(err)
		}
	}
	extras := len(f.ring.Load().extras.Load().all())
	for n := uint64(most); n > left; n-- {
		if err := f.Delete(stream.Present(n - 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(left) {
		if !f.MayContain(stream.Present(n)) {
			t.Fatalf("key %d is absent", n)
		}
	}
	if now := len(f.ring.Load().extras.Load().all()); extras == 0 || now > 0 {
		t.Errorf("%d extras with %d keys, %d with %d", extras, most, now, left)
	}
}

// TestKeysAreNeverLost has short slots, so that many entries become voids.
func TestKeysAreNeverLost(t *testing.T) {
	effort.OneGoroutine(t)
	for seed := range uint64(effort.PickVariant(2, 6, 60)) {
		runChurn(t, seed, minWidth, 3000, effort.PickVariant(20_000, 60_000, 200_000))
	}
}

// TestKeysOfTinyRingsAreNeverLost has rings in which buckets spill all the way round.
func TestKeysOfTinyRingsAreNeverLost(t *testing.T) {
	effort.OneGoroutine(t)
	for seed := range uint64(effort.PickVariant(10, 40, 400)) {
		runChurn(t, seed, minWidth+seed*5%32, 20+int(seed%40)*5, 8000)
	}
}

// TestTheRateIsKeptAndTold compares the sum that is kept with a measurement, up and down.
func TestTheRateIsKeptAndTold(t *testing.T) {
	effort.PlainOnly(t)
	const fpr, sigmas = 0.01, 4
	probes := effort.Pick(40_000, 1_000_000)
	most := effort.Pick[uint64](60_000, 2_000_000)
	f := filtertest.Make(t, New, Config{FPR: fpr, Most: most})
	stream := filtertest.Stream{Seed: 1}
	measure := func() {
		t.Helper()
		hits := 0
		for i := range uint64(probes) {
			if f.MayContain(stream.Absent(i)) {
				hits++
			}
		}
		told := f.Info().FPR
		least, high := theory.BinomialInterval(float64(probes), told, sigmas)
		if told > fpr || float64(hits) > high || float64(hits) < least*0.97 { // a key may fit several
			t.Errorf("%d keys: %d of %d absent keys were found, told is a rate of %.5f", f.Len(), hits, probes, told)
		}
	}
	n := uint64(0)
	for size := uint64(1000); size <= most; size += size/2 + 1 {
		for ; n < size; n++ {
			f.Add(stream.Present(n))
		}
		measure()
	}
	for size := n; size > 1000; size -= size / 3 {
		for ; n > size; n-- {
			f.Delete(stream.Present(n - 1))
		}
		measure()
	}
}

// TestTheRateCountsAKeyOnce adds the same keys again and again. Some get a second entry, when
// the first has become too short.
func TestTheRateCountsAKeyOnce(t *testing.T) {
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	stream := filtertest.Stream{Seed: 1}
	var once float64
	for times := range 100 {
		for n := range uint64(500) {
			f.Add(stream.Present(n))
		}
		if times == 0 {
			once = f.Info().FPR
		}
	}
	if again := f.Info().FPR; again > 1.1*once {
		t.Errorf("the rate is %.5f, and %.5f when every key was added a hundred times", once, again)
	}
}

// TestChosenKeysAreRefused adds keys that have their first bits in common: they all belong
// to one bucket, which is full before any other has a key.
func TestChosenKeysAreRefused(t *testing.T) {
	f := filtertest.Make(t, New, Config{FPR: 0.01})
	r := f.ring.Load()
	var keys []filter.Key
	stream := filtertest.Stream{Seed: 1}
	for i := uint64(0); len(keys) < 60+maxLarge; i++ {
		if k := stream.Present(i); r.mixer.Mix(k)>>(64-9) == 0x123 {
			keys = append(keys, k)
		}
	}
	full := 0
	for _, k := range keys {
		before := filtertest.Stored(t, f)
		if _, err := f.Add(k); err == nil {
			continue
		} else if !errors.Is(err, filter.ErrFull) {
			t.Fatal(err)
		}
		full++
		if string(filtertest.Stored(t, f)) != string(before) {
			t.Fatal("a key was refused and has changed the filter")
		}
	}
	if full == 0 || f.Len() != uint64(len(keys)-full) {
		t.Errorf("%d of %d keys were refused, %d are in the set", full, len(keys), f.Len())
	}
	if err := f.check(); err != nil {
		t.Error(err)
	}
	if _, err := f.Add(stream.Absent(2)); err != nil {
		t.Errorf("another key after that: %v", err)
	}
}

// TestOneKeyMayBeAddedOften counts what would not fit a line. A key that was added more
// often than can be counted stays.
func TestOneKeyMayBeAddedOften(t *testing.T) {
	for _, times := range []uint64{4, 2046, 2047, 10_000} {
		f := filtertest.Make(t, New, Config{FPR: 0.01})
		most := f.ring.Load().maxCount()
		for range times {
			if _, err := f.Add(1); err != nil {
				t.Fatal(err)
			}
		}
		if slots := f.ring.Load().slots; slots != 3 || f.Len() != times {
			t.Errorf("%d keys in %d slots, want %d in 3", f.Len(), slots, times)
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
		for range times {
			if err := f.Delete(1); err != nil {
				t.Fatal(err)
			}
		}
		if f.MayContain(1) != (times >= most) || f.Len() != 0 {
			t.Errorf("added and deleted %d times: there %t, %d keys", times, f.MayContain(1), f.Len())
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestRepeatedKeysLeaveRoom has large buckets, which leave bits of lines over, and some that
// are larger than a line.
func TestRepeatedKeysLeaveRoom(t *testing.T) {
	effort.OneGoroutine(t)
	for _, c := range []struct {
		Config
		times int
	}{
		{Config{FPR: 0.01}, 3},
		{Config{FPR: 0.001, Fill: maxFill}, 3},
		{Config{FPR: 1e-6}, 9},
		{Config{FPR: 1e-9, Fill: maxFill}, 3},
	} {
		f := filtertest.Make(t, New, c.Config)
		stream := filtertest.Stream{Seed: 1}
		keys := uint64(effort.PickVariant(10_000, 10_000, 100_000))
		for range c.times {
			for n := range keys {
				if _, err := f.Add(stream.Present(n)); err != nil {
					t.Fatalf("%+v: add to %d keys: %v", c, f.Len(), err)
				}
			}
		}
		if err := f.check(); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		for range c.times {
			for n := range keys {
				if !f.MayContain(stream.Present(n)) {
					t.Fatalf("%+v: key %d of %d is absent", c, n, f.Len())
				}
				if err := f.Delete(stream.Present(n)); err != nil {
					t.Fatalf("%+v: delete from %d keys: %v", c, f.Len(), err)
				}
			}
		}
		if err := f.check(); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if r := f.ring.Load(); r.layout.total > minLines || r.slots > 0 || len(r.extras.Load().all()) > 0 {
			t.Errorf("%+v: %d lines and %d slots are left", c, r.layout.total, r.slots)
		}
	}
}
