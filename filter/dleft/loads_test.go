package dleft

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// Buckets come subtable by subtable, and their loads add up to the used cells.
func TestLoadsAddUp(t *testing.T) {
	f := build(t, Shape{Subtables: 3, Buckets: 5, Cells: 4, Remainder: 10, Counter: 2})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		add(t, f, filter.Key(rng.Uint64()))
	}
	buckets, used := 0, 0
	for subtable, load := range f.Loads() {
		if want := buckets / 5; subtable != want {
			t.Errorf("bucket %d is in subtable %d, want %d", buckets, subtable, want)
		}
		buckets, used = buckets+1, used+load
	}
	if buckets != 15 || used != int(f.used) {
		t.Errorf("%d buckets with %d keys, want 15 with %d", buckets, used, f.used)
	}
	for range f.Loads() {
		return // an iterator that goes on after this panics
	}
}

// Until the first move a filter is what it would be if nothing could be moved: so
// Moved tells when that one would have been full.
func TestTheFirstMoveIsWhereARigidFilterIsFull(t *testing.T) {
	for seed := range uint64(20) {
		s := Shape{Subtables: 4, Buckets: 16, Cells: 8, Remainder: 14, Counter: 2, Salt: seed}
		f, rigid := build(t, s), build(t, s)
		rigid.rigid = true
		rng := rand.New(rand.NewPCG(seed, 3))
		for i := range 512 {
			k := filter.Key(rng.Uint64())
			_, err := f.Add(k)
			_, rigidErr := rigid.Add(k)
			if full := errors.Is(rigidErr, filter.ErrFull); full != (f.Moved() > 0 || err != nil) {
				t.Fatalf("seed %d, key %d: the rigid filter is full: %t, %d moves, %v", seed, i, full, f.Moved(), err)
			}
			if rigidErr != nil {
				break
			}
		}
	}
}
