package counting_test

import (
	"bytes"
	"math"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*counting.Filter]{
	Kind: frame.Counting, Read: counting.Read, Files: os.DirFS("testdata"),
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, shape := range map[string]counting.Shape{
		"counting-v1.golden":  {Counters: 1000, Hashes: 7, CounterBits: 4, Salt: 3},
		"counting2-v1.golden": {Counters: 101, Hashes: 3, CounterBits: 2},
		"counting8-v1.golden": {Counters: 200, Hashes: 4, CounterBits: 8, Salt: 5},
	} {
		made := build(t, shape)
		keys := filtertest.KeysOf("the quick brown fox jumps over a lazy dog in the field of hay and rye") // one comes twice
		made.AddBatch(keys)
		f := codec.ReadsGolden(t, name, made, keys)
		if f.Len() != 16 || !f.Info().Exact || f.Shape() != shape {
			t.Errorf("%s: %+v of shape %+v", name, f.Info(), f.Shape())
		}
		for _, k := range keys {
			remove(t, f, k)
		}
		if err := codec.Whole(f); err != nil || f.Len() != 0 {
			t.Errorf("%s: %d keys are left after all were deleted: %v", name, f.Len(), err)
		}
	}
}

func TestForgedFilesAreRefused(t *testing.T) {
	const unknown = math.MaxUint64
	type (
		shape = counting.Shape
		sum   = frame.Summary
	)
	one := shape{Counters: 16, Hashes: 1, CounterBits: 4} // one word
	half := shape{Counters: 8, Hashes: 1, CounterBits: 4} // half a word
	codec.Refuses(t, "huge claim", "payload: bytes: 8, want 562949953421312", shape{Counters: 1 << 49, Hashes: 1, CounterBits: 8}, sum{FastBits: 64}, 0, 0)
	codec.Refuses(t, "beyond the last", "bits beyond counter 8 are set", half, sum{Keys: 1, SetBits: 1, FastBits: 64}, 1, 1<<32)
	codec.Refuses(t, "wrong count", "want {Keys:1 Capacity:0 SetBits:1", one, sum{Keys: 1, SetBits: 2, FastBits: 64}, 1, 1)
	codec.Refuses(t, "keys in summary", "summary: {Keys:2", one, sum{Keys: 2, SetBits: 1, FastBits: 64}, 1, 1)
	codec.Refuses(t, "too many keys", "the sum of all counters is 1, want 1 hashes for each of 3 keys", one, sum{Keys: 3, SetBits: 1, FastBits: 64}, 3, 1)
	codec.Refuses(t, "more than fits", "9223372036854775808 keys, at most", one, sum{Keys: 1 << 63, SetBits: 1, FastBits: 64}, 1<<63, 15)
	codec.Refuses(t, "wrong estimate", "summary: {Keys:5", one, sum{Keys: 5, SetBits: 1, FastBits: 64}, unknown, 1)
}

// TestStrangeButPossibleFilesAreRead has what follows from no rule: once a counter
// is saturated, the number of keys can be anything.
func TestStrangeButPossibleFilesAreRead(t *testing.T) {
	one := counting.Shape{Counters: 16, Hashes: 1, CounterBits: 4}
	for _, keys := range []uint64{0, 1, 15, 1 << 62} {
		file := codec.Forge(t, one, frame.Summary{Keys: keys, SetBits: 2, FastBits: 64}, keys, 0x1f)
		f, err := counting.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%d keys: %v", keys, err)
		}
		if f.Len() != keys || f.Saturated() != 1 {
			t.Errorf("%d keys: %+v", keys, f.Info())
		}
		f.Add(1)
		if g, err := counting.Read(bytes.NewReader(filtertest.Stored(t, f))); err != nil || g.Len() != f.Len() {
			t.Errorf("%d keys and one more cannot be stored and read: %v", keys, err)
		}
	}
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
