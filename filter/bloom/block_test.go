package bloom

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/line/linetest"
)

// TestAssemblyMatchesPortable adds and asks the same random keys with every set
// of instructions and compares bits, counts and answers with the portable code.
func TestAssemblyMatchesPortable(t *testing.T) {
	effort.PlainOnly(t)
	for _, s := range []BlockedShape{
		{Blocks: 1, Hashes: 8},
		{Blocks: 3, Hashes: 16, Salt: 1},
		{Blocks: 7, Hashes: 24},
		{Blocks: 100, Hashes: 8, Salt: 1 << 63},
		{Blocks: 101, Hashes: 32},
		{Blocks: 1<<14 + 1, Hashes: 8}, // from here on batches prefetch
		{Blocks: 1<<14 + 1, Hashes: 16},
	} {
		rng := rand.New(rand.NewPCG(7, s.Blocks))
		keys := make([]filter.Key, min(10*s.Blocks, 20_000))
		probes := make([]filter.Key, 3000)
		fill(rng, keys)
		fill(rng, probes)
		want, answers := portably(t, s, keys, probes)
		linetest.EachLevel(t, func(t *testing.T) {
			t.Helper()
			compareSingles(t, want, answers, keys, probes)
			compareBatches(t, want, answers, keys, probes)
		})
	}
}

func fill(rng *rand.Rand, keys []filter.Key) {
	for i := range keys {
		keys[i] = filter.Key(rng.Uint64())
	}
}

func portably(t *testing.T, s BlockedShape, keys, probes []filter.Key) (*Blocked, []bool) {
	t.Helper()
	f := build(t, s)
	for _, k := range keys {
		f.set += f.portableAdd(k)
	}
	answers := make([]bool, len(probes))
	for i, k := range probes {
		answers[i] = f.portableHas(k)
	}
	return f, answers
}

func build(t *testing.T, s BlockedShape) *Blocked {
	t.Helper()
	return filtertest.Make(t, BuildBlocked, s)
}

func compareSingles(t *testing.T, want *Blocked, answers []bool, keys, probes []filter.Key) {
	t.Helper()
	f := build(t, want.Shape())
	for _, k := range keys {
		f.set += f.add(k)
	}
	if !slices.Equal(f.words, want.words) || f.set != want.set {
		t.Errorf("%+v: Add set other bits", f.Shape())
	}
	for i, k := range probes {
		if got := f.has(k); got != answers[i] {
			t.Fatalf("%+v: has(%#x) = %v", f.Shape(), k, got)
		}
	}
}

// compareBatches goes through all lengths around the look-ahead of the assembly.
func compareBatches(t *testing.T, want *Blocked, answers []bool, keys, probes []filter.Key) {
	t.Helper()
	f := build(t, want.Shape())
	added, n := 0, 0
	for rest := keys; len(rest) > 0; rest = rest[n:] {
		n = min(n+1, len(rest))
		added += f.addBatch(rest[:n])
	}
	one := build(t, want.Shape())
	wantAdded := 0
	for _, k := range keys {
		if isNew, _ := one.Add(k); isNew {
			wantAdded++
		}
	}
	if !slices.Equal(f.words, want.words) || f.set != want.set || added != wantAdded {
		t.Errorf("%+v: AddBatch: %d bits and %d keys, want %d and %d", f.Shape(), f.set, added, want.set, wantAdded)
	}
	out := make([]bool, len(probes))
	for lo, n := 0, 0; lo < len(probes); lo += n {
		n = min(n+1, len(probes)-lo)
		f.hasBatch(probes[lo:lo+n], out[lo:lo+n])
	}
	if !slices.Equal(out, answers) {
		t.Errorf("%+v: MayContainBatch differs from MayContain", f.Shape())
	}
	f.hasBatch(probes, out)
	if !slices.Equal(out, answers) {
		t.Errorf("%+v: a batch of %d differs from MayContain", f.Shape(), len(probes))
	}
}
