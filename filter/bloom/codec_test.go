package bloom_test

import (
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var (
	codec = filtertest.Codec[*bloom.Filter]{
		Kind: frame.Bloom, Read: bloom.Read, Files: os.DirFS("testdata"),
	}
	blockedCodec = filtertest.Codec[*bloom.Blocked]{
		Kind: frame.Blocked, Read: bloom.ReadBlocked, Files: os.DirFS("testdata"),
	}
)

// The golden files are of format version 1. They are never written again: every
// release must read them and give these answers.

func TestGoldenFilesAreReadForever(t *testing.T) {
	f := filtertest.Make(t, bloom.Build, bloom.Shape{Bits: 1000, Hashes: 7, Salt: 3})
	codec.ReadsGolden(t, "bloom-v1.golden", f, addGolden(f))
}

func TestGoldenBlockedFilesAreReadForever(t *testing.T) {
	for name, shape := range map[string]bloom.BlockedShape{
		"blocked-v1.golden":   {Blocks: 2, Hashes: 8},
		"blocked16-v1.golden": {Blocks: 3, Hashes: 16, Salt: 5},
	} {
		f := filtertest.Make(t, bloom.BuildBlocked, shape)
		blockedCodec.ReadsGolden(t, name, f, addGolden(f))
	}
}

// addGolden adds the keys of the golden files.
func addGolden(f filter.Filter) []filter.Key {
	keys := filtertest.KeysOf("the quick brown fox jumps over a lazy dog in the field of hay and rye")
	for _, k := range keys {
		f.Add(k)
	}
	return keys
}

func TestForgedFilesAreRefused(t *testing.T) {
	type (
		shape = bloom.Shape
		sum   = frame.Summary
	)
	codec.Refuses(t, "bits beyond m", "bits beyond 60 are set", shape{Bits: 60, Hashes: 1}, sum{SetBits: 1, FastBits: 64}, 1<<60)
	codec.Refuses(t, "wrong count", "SetBits:1 FastBits:64", shape{Bits: 64, Hashes: 1}, sum{SetBits: 2, FastBits: 64}, 1)
}

func TestForgedBlockedFilesAreRefused(t *testing.T) {
	type (
		shape = bloom.BlockedShape
		sum   = frame.Summary
	)
	blockedCodec.Refuses(t, "too few words", "payload: bytes: 8, want 64", shape{Blocks: 1, Hashes: 8}, sum{FastBits: 512}, 0)
}

func FuzzRead(f *testing.F)        { codec.FuzzRead(f) }
func FuzzReadBlocked(f *testing.F) { blockedCodec.FuzzRead(f) }
