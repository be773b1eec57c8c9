package dleft

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func add(tb testing.TB, f *Filter, keys ...filter.Key) {
	tb.Helper()
	for _, k := range keys {
		if _, err := f.Add(k); err != nil {
			tb.Fatalf("add %#x: %v", k, err)
		}
	}
}

// twinsOf returns keys that all have the fingerprint of the first.
func twinsOf(f *Filter, n int) []filter.Key {
	keys := []filter.Key{1}
	for k := filter.Key(2); len(keys) < n; k++ {
		if f.fingerprint(k) == f.fingerprint(1) {
			keys = append(keys, k)
		}
	}
	return keys
}

func TestKeyAddedTwiceIsDeletedTwice(t *testing.T) {
	f := build(t, paper)
	add(t, f, 7, 7)
	for left := 1; left >= 0; left-- {
		if err := f.Delete(7); err != nil || f.MayContain(7) != (left > 0) || f.Len() != uint64(left) {
			t.Fatalf("%d copies left: %v, there: %t, Len %d", left, err, f.MayContain(7), f.Len())
		}
	}
	if err := f.Delete(7); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("the third delete: %v, want ErrNotFound", err)
	}
}

func TestKeysWithOneFingerprintAreCounted(t *testing.T) {
	f := build(t, Shape{Subtables: 4, Buckets: 2, Cells: 8, Remainder: 6, Counter: 10})
	keys := twinsOf(f, 5)
	add(t, f, keys...)
	if f.used != 1 || f.Len() != 5 {
		t.Errorf("five keys of one fingerprint use %d cells and count as %d", f.used, f.Len())
	}
	for i, k := range keys {
		for _, rest := range keys[i:] {
			if !f.MayContain(rest) {
				t.Errorf("%#x is denied after %d of its twins were deleted", rest, i)
			}
		}
		if err := f.Delete(k); err != nil {
			t.Errorf("delete %#x: %v", k, err)
		}
	}
	if f.used != 0 || f.MayContain(keys[0]) {
		t.Error("the last copy did not free the cell")
	}
}

// TestEqualPathsStoreOneCopy has one fingerprint in all, so that all subtables
// keep the same remainder in their only bucket.
func TestEqualPathsStoreOneCopy(t *testing.T) {
	f := build(t, Shape{Subtables: 8, Buckets: 1, Cells: 2, Remainder: 1, Counter: 8})
	add(t, f, 1, 2, 3)
	if f.used != 1 || f.Len() != 3 {
		t.Fatalf("%d cells, %d keys", f.used, f.Len())
	}
	for _, k := range []filter.Key{3, 1, 2} {
		if err := f.Delete(k); err != nil {
			t.Error(err)
		}
	}
	if f.MayContain(1) || f.check() != nil {
		t.Errorf("a copy is left: %v", f.check())
	}
}

// TestDeletingFalsePositiveHarms holds what the package comment warns of.
func TestDeletingFalsePositiveHarms(t *testing.T) {
	f := build(t, Shape{Subtables: 2, Buckets: 2, Cells: 4, Remainder: 5, Counter: 2})
	keys := twinsOf(f, 2)
	add(t, f, keys[0])
	if err := f.Delete(keys[1]); err != nil || f.MayContain(keys[0]) {
		t.Errorf("deleting a false positive: %v, the other is there: %t", err, f.MayContain(keys[0]))
	}
}

func TestCountersStickAtTheirLargest(t *testing.T) {
	for counter := 1; counter <= 6; counter++ {
		f := build(t, Shape{Subtables: 4, Buckets: 5, Cells: 8, Remainder: 16 - counter, Counter: counter})
		copies := 1 << counter
		for i := 1; i <= copies+3; i++ {
			add(t, f, 9)
			if stuck := f.stuck == 1; stuck != (i >= copies) || f.Len() != uint64(i) || f.Info().Exact == stuck {
				t.Fatalf("%d bits, %d copies: stuck %t, Len %d", counter, i, stuck, f.Len())
			}
		}
		for i := copies + 2; i >= 0; i-- {
			if err := f.Delete(9); err != nil || !f.MayContain(9) || f.Len() != uint64(i) {
				t.Fatalf("%d bits, %d copies left: %v, there: %t, Len %d", counter, i, err, f.MayContain(9), f.Len())
			}
		}
		// Now it is known that no copy is left, though the cell is never freed.
		if err := f.Delete(9); !errors.Is(err, filter.ErrNotFound) || !f.MayContain(9) {
			t.Errorf("%d bits: delete beyond the last copy: %v", counter, err)
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestFullBucketRefusesWithoutChange has all room in one bucket per subtable.
func TestFullBucketRefusesWithoutChange(t *testing.T) {
	f := build(t, Shape{Subtables: 3, Buckets: 1, Cells: 8, Remainder: 14, Counter: 2})
	var in []filter.Key
	k := filter.Key(1)
	for ; f.used < f.shape.cells(); k++ {
		add(t, f, k)
		in = append(in, k)
	}
	before := filtertest.Stored(t, f)
	for ; f.MayContain(k); k++ {
	}
	if added, err := f.Add(k); added || !errors.Is(err, filter.ErrFull) {
		t.Errorf("a key too many: %t, %v", added, err)
	}
	if done, added, err := f.AddBatch([]filter.Key{k}); done != 0 || added != 0 || !errors.Is(err, filter.ErrFull) {
		t.Errorf("a batch too many: %d, %d, %v", done, added, err)
	}
	if !bytes.Equal(filtertest.Stored(t, f), before) {
		t.Error("a refused key left traces")
	}
	add(t, f, in[0]) // a copy needs no room
	if err := f.Delete(in[5]); err != nil {
		t.Fatal(err)
	}
	add(t, f, k)
}

// TestMovedKeysKeepTheirCopies fills small filters, every key twice, until
// something was moved.
func TestMovedKeysKeepTheirCopies(t *testing.T) {
	moved := uint64(0)
	for salt := range uint64(50) {
		f := build(t, Shape{Subtables: 3, Buckets: 20, Cells: 4, Remainder: 20, Counter: 5, Salt: salt})
		var in []filter.Key
		for k := filter.Key(salt << 32); ; k++ {
			if _, err := f.Add(k * 0x9E3779B97F4A7C15); err != nil {
				break
			}
			add(t, f, k*0x9E3779B97F4A7C15)
			in = append(in, k*0x9E3779B97F4A7C15)
		}
		moved += f.moved
		for range 2 {
			for _, k := range in {
				if !f.MayContain(k) {
					t.Fatalf("salt %d: %#x is denied after %d moves", salt, k, f.moved)
				}
				if err := f.Delete(k); err != nil {
					t.Fatalf("salt %d: delete %#x: %v", salt, k, err)
				}
			}
		}
		if f.used != 0 || f.Len() != 0 || f.check() != nil {
			t.Errorf("salt %d: %d cells left, %v", salt, f.used, f.check())
		}
	}
	if moved < 50 {
		t.Errorf("only %d keys were moved", moved)
	}
}

// TestRateIsExact compares Info with the share of all values of the hash that get
// a yes.
func TestRateIsExact(t *testing.T) {
	for _, s := range []Shape{
		{Subtables: 4, Buckets: 5, Cells: 8, Remainder: 3, Counter: 2},
		{Subtables: 1, Buckets: 1, Cells: 1, Remainder: 1, Counter: 1},
		{Subtables: 4, Buckets: 31, Cells: 8, Remainder: 14, Counter: 2},
		{Subtables: 2, Buckets: 100, Cells: 6, Remainder: 2, Counter: 2, Salt: 1},
	} {
		f := build(t, s)
		rng := rand.New(rand.NewPCG(1, 2))
		for range s.cells() * 3 / 4 {
			f.Add(filter.Key(rng.Uint64()))
		}
		hits := uint64(0)
		for v := range f.space {
			if _, ok := f.seek(f.mend(v)); ok {
				hits++
			}
		}
		if want := float64(hits) / float64(f.space); math.Abs(f.Info().FPR-want) > 1e-12 {
			t.Errorf("%+v: Info tells %g, the rate is %g", s, f.Info().FPR, want)
		}
	}
}

func TestInfoTellsLoadAndStuckCounters(t *testing.T) {
	f := filtertest.Make(t, New, Config{Items: 100, FPR: 0.01})
	for k := range filter.Key(10) {
		add(t, f, k, k, k, k)
	}
	info := f.Info()
	if info.Keys != 40 || info.Capacity != 100 || info.Overfull || info.Fill != 10/160.0 || info.Exact {
		t.Errorf("%+v", info)
	}
	want := []filter.Detail{{Name: "keys per bucket", Value: "0.500"}, {Name: "stuck counters", Value: "10"}}
	if len(info.Details) != 2 || info.Details[0] != want[0] || info.Details[1] != want[1] {
		t.Errorf("details %+v, want %+v", info.Details, want)
	}
}

func TestErrorsNameThePackage(t *testing.T) {
	for _, err := range []error{errFull, errNotFound} {
		if !strings.HasPrefix(err.Error(), "dleft: ") {
			t.Error(err)
		}
	}
}
