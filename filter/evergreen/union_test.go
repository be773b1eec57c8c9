package evergreen

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestUnionsAreWholeOrNothing unites filters that have all amounts of memory, up to
// enough: what is refused changes nothing, not even what is stored.
func TestUnionsAreWholeOrNothing(t *testing.T) {
	effort.OneGoroutine(t)
	Eager(t)
	for _, c := range []struct{ mine, theirs uint64 }{{2000, 3000}, {6000, 4000}, {0, 5000}} {
		keys := filtertest.Keys(1, c.mine+c.theirs)
		other := filtertest.Make(t, New, Config{FPR: 0.01, Salt: 5})
		other.AddBatch(keys[c.mine/2:]) // some are in both
		refused, done := 0, 0
		step := effort.PickVariant[uint64](23*512+16, 11*512+16, 5*512+16)
		for words := uint64(4 * 512); words < 200*512; words += step {
			f, p := poor(t, 1<<40)
			f.AddBatch(keys[:c.mine])
			before := filtertest.Stored(t, f)
			p.words = words
			switch err := f.Union(other); {
			case err == nil:
				done++
				if f.Len() != uint64(len(keys)) {
					t.Fatalf("%+v, %d words: %d keys, want %d", c, words, f.Len(), len(keys))
				}
				wantKeys(t, f, keys)
			case errors.Is(err, filter.ErrStorage):
				refused++
				if !bytes.Equal(filtertest.Stored(t, f), before) {
					t.Fatalf("%+v, %d words: a union that was refused changed the filter: %+v", c, words, f.Info())
				}
			default:
				t.Fatal(err)
			}
			if err := f.check(); err != nil {
				t.Fatal(err)
			}
		}
		if refused == 0 || done == 0 {
			t.Errorf("%+v: %d refused, %d done", c, refused, done)
		}
	}
}

// TestCrowdedUnionsChangeNothing has too many keys of one block among others, spread
// over two filters, also for copies in a compact filter.
func TestCrowdedUnionsChangeNothing(t *testing.T) {
	for _, width := range []int{56, 40} {
		s := Shape{FPR: 0.01, Hashes: 8, Width: width}
		a, b := mustBuild(t, s), mustBuild(t, s)
		for i := range uint64(1500) {
			k := a.tab().mixer.key(addressOf(i<<40 | 5))
			if f := []*Filter{a, b}[i%2]; i < 2*500 {
				f.Add(k)
			}
		}
		b.AddBatch(filtertest.Keys(1, 2000))
		before := filtertest.Stored(t, a)
		if err := a.Union(b); !errors.Is(err, filter.ErrFull) || !bytes.Equal(filtertest.Stored(t, a), before) {
			t.Errorf("width %d: %v, %+v", width, err, a.Info())
		}
		if _, err := a.PrepareUnion(b); !errors.Is(err, filter.ErrFull) {
			t.Errorf("width %d: it can be prepared", width)
		}
		if err := a.check(); err != nil {
			t.Error(err)
		}
	}
}

// TestPreparedUnionsWait holds that nothing changes before a union is completed, for
// lists that stay lists, lists that become tables, and tables.
func TestPreparedUnionsWait(t *testing.T) {
	effort.OneGoroutine(t)
	for _, c := range []struct{ mine, theirs uint64 }{{0, 0}, {100, 200}, {100, 600}, {600, 100}, {5000, 3000}, {600, 30_000}} {
		keys := filtertest.Keys(3, c.mine+c.theirs)
		f, o := filtertest.Make(t, New, Config{}), filtertest.Make(t, New, Config{FPR: 0.1})
		f.AddBatch(keys[:c.mine])
		o.AddBatch(keys[c.mine/2:])
		blocks := f.Blocks()
		finish, err := f.PrepareUnion(o)
		if err != nil {
			t.Fatal(err)
		}
		if early := c.theirs > 2*c.mine && blocks > 0; f.Len() != c.mine || f.Blocks() != blocks && !early {
			t.Errorf("%+v: prepared, it has %d keys in %d blocks, before in %d", c, f.Len(), f.Blocks(), blocks)
		}
		if err := finish(true); err != nil {
			t.Error(err)
		}
		got, want := slices.Sorted(f.Keys()), slices.Clone(keys)
		if slices.Sort(want); !slices.Equal(got, want) || f.check() != nil {
			t.Errorf("%+v: %d keys, want %d: %v", c, len(got), len(want), f.check())
		}
		if rate := f.Info().FPR; rate > 0.001 {
			t.Errorf("%+v: rate %g", c, rate)
		}
	}
}

// TestUnionsBesideWriters unites while others add, delete and turn lists into tables.
func TestUnionsBesideWriters(t *testing.T) {
	Lists(t, 40)
	Eager(t)
	rounds := effort.PickVariant(20, 20, 100)
	keys := filtertest.Keys(5, 90)
	o := filtertest.Make(t, New, Config{})
	o.AddBatch(keys[60:])
	for range rounds {
		f := filtertest.Make(t, New, Config{FPR: 0.01})
		f.AddBatch(keys[:10])
		var group sync.WaitGroup
		group.Go(func() {
			if err := f.Union(o); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			for _, k := range keys[10:60] {
				if added, err := f.Add(k); !added || err != nil {
					t.Error(added, err)
				}
			}
			for _, k := range keys[20:60] {
				if err := f.Delete(k); err != nil {
					t.Error(err)
				}
			}
		})
		group.Wait()
		wantKeys(t, f, slices.Concat(keys[:20], keys[60:]))
		wantSound(t, f, 50)
	}
}
