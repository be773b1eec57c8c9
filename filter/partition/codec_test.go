package partition_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/frame"
)

var codec = filtertest.Codec[*partition.Filter]{
	Kind: frame.Partition, Read: partition.Read, Check: (*partition.Filter).Check, Files: os.DirFS("testdata"),
}

// goldens has files of format version 1. They are never written again: every
// release must read them and give these answers.
var goldens = map[string]struct {
	shape partition.Shape
	keys  []filter.Key
}{
	"hashed-v1.golden": {
		partition.Shape{IDBits: 37, Depth: 34, UnitBits: 128, Hashes: 10, Full: 64, Salt: 3},
		filtertest.KeysOf("the quick brown fox jumps over a lazy dog in the field of hay and rye"),
	},
	"figure5-v1.golden": {
		partition.Shape{Universe: 32, IDBits: 5, Depth: 3, UnitBits: 5, Hashes: 2, Full: 5, Count: 4},
		[]filter.Key{4, 5, 8, 10, 17, 19, 22, 25, 31},
	},
}

func TestGoldenFilesAreReadForever(t *testing.T) {
	for name, g := range goldens {
		made := filtertest.Make(t, partition.Build, g.shape)
		if _, _, err := made.AddBatch(g.keys); err != nil {
			t.Fatal(err)
		}
		f := codec.ReadsGolden(t, name, made, g.keys)
		if f.Len() != made.Len() || f.Shape() != g.shape {
			t.Errorf("%s: %d ids, %+v", name, f.Len(), f.Shape())
		}
	}
}

// forge returns a file of the example's shape with these bytes as ids.
func forge(t *testing.T, sum frame.Summary, payload ...byte) []byte {
	t.Helper()
	empty := codec.Forge(t, goldens["figure5-v1.golden"].shape, sum)
	return filtertest.Alter(t, empty, func(_ *frame.Header, _ []byte) []byte { return payload })
}

func TestForgedFilesAreRefused(t *testing.T) {
	type sum = frame.Summary
	made := filtertest.Make(t, partition.Build, goldens["figure5-v1.golden"].shape)
	if _, _, err := made.AddBatch([]filter.Key{4, 5}); err != nil {
		t.Fatal(err)
	}
	var set uint64
	for n := range made.Nodes() {
		set += n.SetBits
	}
	two := sum{Keys: 2, SetBits: set}
	if f, err := partition.Read(bytes.NewReader(forge(t, two, 4, 1))); err != nil || f.Len() != 2 {
		t.Fatalf("ids 4 and 5: %v", err)
	}
	for what, c := range map[string]struct {
		want string
		file []byte
	}{
		"an id twice":       {"id after 4: the same", forge(t, two, 4, 0)},
		"beyond the last":   {"id after 4: 28 more, want at most 31", forge(t, two, 4, 28)},
		"far beyond":        {"id after 4: 18446744073709551615 more", forge(t, two, append([]byte{4}, binary.AppendUvarint(nil, 1<<64-1)...)...)},
		"endless":           {"a number that does not end", forge(t, two, 4, 0x81)},
		"more than 64 bits": {"a number that does not end", forge(t, two, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)},
		"too long a form":   {"2 bytes for the number 1", forge(t, two, 4, 0x81, 0)},
		"one key more":      {"summary: {Keys:3", forge(t, sum{Keys: 3, SetBits: set}, 4, 1)},
		"one bit more":      {"SetBits:4", forge(t, sum{Keys: 2, SetBits: set + 1}, 4, 1)},
		"keys of nothing":   {"summary: {Keys:2", forge(t, two)},
	} {
		codec.RefusesFile(t, what, c.want, c.file)
	}
}

func FuzzRead(f *testing.F) { codec.FuzzRead(f) }
