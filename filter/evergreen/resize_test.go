package evergreen

import (
	"errors"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen/internal/slab"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// TestGrowAndShrinkAreSteps goes up on demand, is not undone by deletes, and goes
// down as far as the rate allows.
func TestGrowAndShrinkAreSteps(t *testing.T) {
	effort.OneGoroutine(t)
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	for i := range uint64(300) {
		step(t, f.Grow)
		if f.Blocks() != minBlocks+i+1 {
			t.Fatalf("%d blocks after %d steps", f.Blocks(), i+1)
		}
	}
	keys := filtertest.Keys(1, 18_000)
	f.AddBatch(keys)
	grown := f.Blocks()
	filter.DeleteBatch(f, keys[1000:])
	if f.Blocks() != minBlocks+300 {
		t.Errorf("%d blocks with a thousand keys, want the %d asked for", f.Blocks(), minBlocks+300)
	}
	f.AddBatch(keys)
	if f.Blocks() < grown-2 || f.Blocks() > grown+2 {
		t.Errorf("%d blocks, with the same keys before %d", f.Blocks(), grown)
	}
	steps := 0
	for err := f.Shrink(); err == nil; err = f.Shrink() {
		steps++
	}
	if rate := f.Info().FPR; steps == 0 || rate > 0.01 || rate < 0.009 {
		t.Errorf("shrunk by %d steps to a rate of %g", steps, rate)
	}
	filter.DeleteBatch(f, keys)
	if f.Blocks() >= grown {
		t.Errorf("%d blocks after everything was deleted", f.Blocks())
	}
	for f.Shrink() == nil {
	}
	if err := f.Shrink(); f.Blocks() != minBlocks || !errors.Is(err, filter.ErrFull) {
		t.Errorf("%d blocks, and then %v", f.Blocks(), err)
	}
	if err := f.check(); err != nil {
		t.Error(err)
	}
}

// TestShrinkingReturnsMemory grows over several segments and comes back.
func TestShrinkingReturnsMemory(t *testing.T) {
	effort.OneGoroutine(t)
	n := uint64(150_000)
	if effort.Brief() {
		n = 40_000
	}
	f := mustBuild(t, Shape{FPR: 0.001, Hashes: 8, Width: 56})
	keys := filtertest.Keys(1, n)
	f.AddBatch(keys)
	lines, slow := f.tab().lines.array.Cap(), f.Info().SlowBits
	for _, k := range keys[1000:] {
		if err := f.Delete(k); err != nil {
			t.Fatal(err)
		}
	}
	if left := f.Info().SlowBits; f.Blocks() != minBlocks || f.tab().lines.array.Cap() > lines/4 || left > slow/4 || f.tab().store.IsFragmented() {
		t.Errorf("%d blocks in %d of %d, %d slow bits of %d", f.Blocks(), f.tab().lines.array.Cap(), lines, left, slow)
	}
	if err := f.check(); err != nil {
		t.Error(err)
	}
	f.AddBatch(keys)
	if err := f.check(); err != nil || f.Len() != n {
		t.Errorf("%d keys after growing again, want %d: %v", f.Len(), n, err)
	}
}

// A purse is an allocator that has only so many words to give.
type purse struct{ words uint64 }

func (p *purse) Words(n uint64) ([]uint64, error) {
	if n > p.words {
		return nil, mem.ErrMemory
	}
	p.words -= n
	return mem.Words(n)
}

// poor returns a filter whose slow memory ends.
func poor(t *testing.T, words uint64) (*Filter, *purse) {
	t.Helper()
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	p := &purse{words}
	f.tab().store = slab.New(7, lowBits, &f.tab().stripes, p)
	if err := f.tab().store.Grow(minBlocks); err != nil {
		t.Fatal(err)
	}
	return f, p
}

// TestNothingChangesWithoutMemory fills filters until there is no memory, with and
// without inboxes. Refused keys must not be there, all others must, and when there
// is memory again it goes on.
func TestNothingChangesWithoutMemory(t *testing.T) {
	effort.OneGoroutine(t)
	for _, eager := range []bool{false, true} {
		if eager {
			Eager(t)
		}
		f, p := poor(t, 30*512)
		in, out := make(map[filter.Key]bool), []filter.Key(nil)
		for _, k := range filtertest.Keys(1, 20_000) {
			added, err := f.Add(k)
			switch {
			case err == nil && added:
				in[k] = true
			case errors.Is(err, filter.ErrStorage) && !added:
				out = append(out, k)
			default:
				t.Fatalf("adding %#x: %v, %v", k, added, err)
			}
		}
		wantIn(t, f, in, out)
		p.words = 1 << 30
		for _, k := range out {
			if _, err := f.Add(k); err != nil {
				t.Fatal(err)
			}
			in[k] = true
		}
		wantIn(t, f, in, nil)
		if err := f.check(); err != nil {
			t.Error(err)
		}
	}
}

// wantIn checks by the fingerprints, by Keys and by a snapshot which keys are there.
func wantIn(t *testing.T, f *Filter, in map[filter.Key]bool, out []filter.Key) {
	t.Helper()
	if f.Len() != uint64(len(in)) {
		t.Errorf("%d keys, want %d", f.Len(), len(in))
	}
	for k := range in {
		if !f.MayContain(k) || !f.Contains(k) {
			t.Fatalf("%#x is absent", k)
		}
	}
	for _, k := range out {
		if f.Contains(k) {
			t.Fatalf("%#x was refused and is there", k)
		}
	}
	given := 0
	for k := range f.Keys() {
		if !in[k] {
			t.Fatalf("Keys gives %#x", k)
		}
		given++
	}
	if given != len(in) {
		t.Errorf("Keys gives %d keys, want %d", given, len(in))
	}
}

// TestCrowdedBlocksAreRefused adds keys that are made to go to one block.
func TestCrowdedBlocksAreRefused(t *testing.T) {
	for _, eager := range []bool{false, true} {
		if eager {
			Eager(t)
		}
		f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
		var keys []filter.Key
		var err error
		for i := uint64(0); err == nil && i < 2000; i++ {
			k := f.tab().mixer.key(addressOf(i<<40 | 5))
			if _, err = f.Add(k); err == nil {
				keys = append(keys, k)
			}
		}
		if !errors.Is(err, filter.ErrFull) || len(keys) < 500 {
			t.Errorf("after %d keys of one block: %v", len(keys), err)
		}
		wantKeys(t, f, keys)
		if _, err := f.Add(f.tab().mixer.key(addressOf(6))); err != nil {
			t.Errorf("a key of another block: %v", err)
		}
		if err := f.check(); err != nil {
			t.Error(err)
		}
		for _, k := range keys {
			if err := f.Delete(k); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLargeFilters has inboxes, prefetching and segments of blocks as they are meant.
func TestLargeFilters(t *testing.T) {
	const n = 800_000
	if effort.Brief() {
		t.Skip("takes too long")
	}
	for _, width := range []int{56, 40} {
		f := filtertest.Make(t, New, Config{FPR: 1e-5, Width: width})
		keys := filtertest.Keys(1, n)
		if done, _, err := f.AddBatch(keys); done != len(keys) || err != nil {
			t.Fatal(done, err)
		}
		if f.Blocks() < inboxFrom {
			t.Fatalf("%d blocks are too few to test anything", f.Blocks())
		}
		if err := f.check(); err != nil {
			t.Fatal(err)
		}
		for i, k := range keys {
			if i%2 == 0 && f.Delete(k) != nil {
				t.Fatalf("%#x cannot be deleted", k)
			}
		}
		if deleted, _, _, err := filter.DeleteBatch(f, keys); deleted != len(keys)/2 && f.shape.Exact() || err != nil {
			t.Fatalf("%d deleted, %v", deleted, err)
		}
		if err := f.check(); err != nil || f.Blocks() != 0 && f.shape.Exact() {
			t.Errorf("%d blocks in the end: %v", f.Blocks(), err)
		}
	}
}
