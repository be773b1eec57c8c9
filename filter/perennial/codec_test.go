package perennial

import (
	"bytes"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*Filter]{
	Kind: frame.Perennial, Read: Read, Check: (*Filter).check, Files: os.DirFS("testdata"),
}

// golden returns a filter with keys, of which one is there often enough to be counted.
// Where voids is set, short prefixes have become voids of several depths.
func golden(t *testing.T, s Shape, voids bool) (*Filter, []filter.Key) {
	t.Helper()
	f := filtertest.Make(t, Build, s)
	keys := filtertest.KeysOf("the quick brown fox jumps over the lazy dog in the field of the hay and the rye")
	if _, _, err := f.AddBatch(keys); err != nil {
		t.Fatal(err)
	}
	if !voids {
		return f, keys
	}
	r := f.ring.Load()
	for n := uint(3); n < bucketLog+3; n++ {
		copies := uint64(n%3) + 1
		if err := r.addAt(prefix{bits: 0x9E37 << 48 >> (64 - n) << (64 - n), n: n}, copies); err != nil {
			t.Fatal(err)
		}
		r.keys += copies
	}
	return f, keys
}

// TestGoldenFilesAreReadForever has files of format version 1. They are never
// written again: every release must read them and give these answers.
func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, c := range map[string]struct {
		shape Shape
		voids bool
	}{
		"perennial-v1.golden": {Shape{Lines: 3, Width: 12, Fill: 0.90, FPR: 0.01, Most: 1 << 31}, false},
		"voids-v1.golden":     {Shape{Lines: 4, Width: 9, Fill: 0.80, FPR: 0.1, Most: 1000, Salt: 5}, true},
	} {
		made, keys := golden(t, c.shape, c.voids)
		f := codec.ReadsGolden(t, name, made, keys)
		for _, k := range keys {
			if err := f.Delete(k); err != nil {
				t.Errorf("%s: delete %#x: %v", name, k, err)
			}
		}
		if err := f.check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForgedFilesAreRefused changes a ring of three lines, 43, 43 and 42 buckets, behind
// the checksums.
func TestForgedFilesAreRefused(t *testing.T) {
	s := Shape{Lines: 3, Width: 12, Fill: 0.90, FPR: 0.01, Most: 1000}
	head := func(in, held uint64) uint64 { return held<<9 | in }
	empty := func() []uint64 {
		words := make([]uint64, 2+3*lineWords)
		words[2], words[10], words[18] = head(0, 43), head(0, 43), head(0, 42)
		return words
	}
	// with puts the slots into the first bucket, for as many keys as there are slots.
	with := func(slots ...uint64) []uint64 {
		words := empty()
		words[0] = 1
		words[2] |= (1<<len(slots) - 1) << headBits
		for i, v := range slots {
			var l line
			copy(l[:], words[2:])
			l.setBits(lineBits-uint(i+1)*12, 12, v)
			copy(words[2:], l[:])
		}
		return words
	}
	sum := func(keys, slots uint64) frame.Summary {
		return frame.Summary{Keys: keys, SetBits: slots, FastBits: 3 * lineBits}
	}
	extra := func(words ...uint64) []uint64 {
		return slices.Concat([]uint64{0, uint64(len(words) / extraWords)}, words, empty()[2:])
	}
	for what, words := range map[string][]uint64{
		"one key":      with(0x801),
		"ten of a key": with(0, 0x800|10, 0x801),
	} {
		slots := uint64(bits.OnesCount64(words[2] >> headBits))
		if f, err := Read(bytes.NewReader(codec.Forge(t, s, sum(1, slots), words...))); err != nil {
			t.Errorf("%s: %v", what, err)
		} else {
			codec.Works(t, f)
		}
	}
	change := func(words []uint64, at int, flip uint64) []uint64 {
		words[at] ^= flip
		return words
	}
	for _, c := range []struct {
		what, want string
		shape      Shape
		sum        frame.Summary
		words      []uint64
	}{
		{"no lines", "Lines: 0", Shape{Width: 12, Fill: 0.9, FPR: 0.1}, sum(0, 0), empty()},
		{"short slots", "Width: 8", Shape{Lines: 3, Width: 8, Fill: 0.9, FPR: 0.1}, sum(0, 0), empty()},
		{"no fill", "Fill: 0", Shape{Lines: 3, Width: 12, FPR: 0.1}, sum(0, 0), empty()},
		{"no rate", "FPR: 0", Shape{Lines: 3, Width: 12, Fill: 0.9}, sum(0, 0), empty()},
		{"more lines asked for", "at least 4 lines", Shape{Lines: 4, Width: 12, Fill: 0.9, FPR: 0.1}, sum(0, 0), empty()},
		{"half a line", "payload: bytes: 168", s, sum(0, 0), empty()[:23]},
		{"nothing", "payload: bytes: 0", s, sum(0, 0), nil},
		{"too few buckets", "line 0: 42 of 43 buckets", s, sum(0, 0), change(empty(), 2, head(0, 43)^head(0, 42))},
		{"too many buckets", "line 0: 44 of 43 buckets", s, sum(0, 0), change(empty(), 2, head(0, 43)^head(0, 44))},
		{"buckets from nowhere", "line 0: ", s, sum(0, 0), change(empty(), 2, head(1, 0))},
		{"a whole turn", "128 buckets from lines before, of 128", s, sum(0, 0), change(change(change(empty(), 2, 128), 10, 128), 18, 128)},
		{"a bucket in the wrong line", "the next bucket has room here", s, sum(0, 0), change(change(empty(), 2, (43^42)<<9), 10, head(1, 43^44))},
		{"a bit between", "bits are set between", s, sum(0, 0), change(empty(), 5, 1)},
		{"a slot without a bucket", "bits are set between", s, sum(0, 0), change(empty(), 9, 1<<63)},
		{"no end of buckets", "line 0: ", s, sum(0, 0), change(empty(), 2, (1<<48-1)<<headBits)},
		{"a slot of nothing", "not in its shortest form", s, sum(1, 1), with(0)},
		{"not in order", "not in", s, sum(1, 2), with(0x803, 0x801)},
		{"counted without need", "not in its shortest form", s, sum(1, 3), with(0, 0x800|2, 0x801)},
		{"counted to none", "not in its shortest form", s, sum(1, 3), with(0, 0x800, 0x801)},
		{"a void without its copy", "0 voids of depth 1, 1 in the bucket before", s, sum(1, 2), with(0, 1)},
		{"more extras than bytes", "payload: extras: 9, want at most 8", s, sum(0, 0), change(empty(), 1, 9)},
		{"an extra of no bits", "payload: extra", s, sum(0, 0), extra(0, 0, 1)},
		{"an extra of more bits than it says", "payload: extra", s, sum(0, 0), extra(3<<62, 1, 1)},
		{"an extra that is not there", "an extra is there 0 times", s, sum(0, 0), extra(1<<63, 1, 0)},
		{"extras out of order", "payload: extra", s, sum(0, 0), extra(1<<63, 1, 1, 1<<62, 2, 1)},
		{"a void too deep", "a void of depth 8", s, sum(1, 2), with(0, 8)},
		{"a void of no depth", "bucket 0 of group 0", s, sum(1, 2), with(0, 0)},
		{"half a void", "not in", s, sum(1, 2), with(0x801, 0)},
		{"more keys than entries", "2 keys have 1 entries", s, sum(2, 1), change(with(0x801), 0, 3)},
		{"keys in summary", "summary: {Keys:2", s, sum(2, 1), with(0x801)},
		{"slots in summary", "SetBits:1", s, sum(1, 2), with(0x801)},
		{"size in summary", "FastBits:1536", s, frame.Summary{Keys: 1, SetBits: 1, FastBits: 512}, with(0x801)},
		{"slow bits", "SlowBits:1", s, frame.Summary{Keys: 1, SetBits: 1, FastBits: 1536, SlowBits: 1}, with(0x801)},
	} {
		codec.Refuses(t, c.what, c.want, c.shape, c.sum, c.words...)
	}
	codec.Refuses(t, "other fields", "lines", struct{ Bits, Hashes, Salt uint64 }{16, 1, 0}, sum(0, 0), empty()...)
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
