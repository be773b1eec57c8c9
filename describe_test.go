package everbloom

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

func TestDescribeSaysWhatTheOpenedSetSays(t *testing.T) {
	effort.OneGoroutine(t)
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for i, hash := range hashes {
				for _, shards := range shardCounts[i%2:] { // 1 with every second hash
					s := filled(t, Needs{Kind: kind, Items: 5000, FPR: 0.01, Shards: shards, Hash: hash}, 0, 1000)
					d, err := Describe(bytes.NewReader(stored(t, s)))
					if err != nil {
						t.Fatal(err)
					}
					info := s.Info()
					if d.Kind != info.Kind || d.Hash != info.Hash || d.Shards != info.Shards || d.Version != 1 {
						t.Errorf("described as %+v, is %+v", d, info)
					}
					sum := d.Summary
					if sum.Keys != info.Keys || sum.Capacity != info.Capacity {
						t.Errorf("summary %+v, is %+v", sum, info)
					}
					listed := kind == "evergreen" && info.SlowBits == 0                // few keys are stored as more would be
					reserves := kind == "perennial" && info.FastBits <= 2*sum.FastBits // its tables are not stored
					if !listed && !reserves && (sum.FastBits != info.FastBits || sum.SlowBits != info.SlowBits) {
						t.Errorf("summary %+v, is %+v", sum, info)
					}
					if sum.SetBits == 0 || sum.SetBits > sum.FastBits+sum.SlowBits {
						t.Errorf("%d of %d bits are set", sum.SetBits, sum.FastBits)
					}
					if got := d.Shape.String(); !strings.Contains(got, "salt=0") {
						t.Errorf("shape %q", got)
					}
				}
			}
		})
	}
}

// TestDescribeNeedsNoPayload: of an unsharded file the header is enough, of a
// sharded one the last payload is not looked at. A bare filter can be looked at, too.
func TestDescribeNeedsNoPayload(t *testing.T) {
	bare, parts := image(t, mustBloom(t, 10), nil, 0, 1), threeParts(t)
	header := int(binary.LittleEndian.Uint32(bare[20:]))
	for n := range len(bare) + 1 {
		d, err := Describe(bytes.NewReader(bare[:n]))
		switch {
		case n < header:
			wantError(t, err, filter.ErrCorrupt, "everbloom: ", "truncated")
		case err != nil || d.Summary.Capacity != 10 || d.Kind != "bloom" || d.Hash != "":
			t.Fatalf("cut at %d, behind a header of %d: %+v, %v", n, header, d, err)
		}
	}
	whole := slices.Concat(parts...)
	payload := len(bare) - header
	if d, err := Describe(bytes.NewReader(whole[:len(whole)-payload])); err != nil || d.Shards != 3 {
		t.Errorf("without the last payload: %+v, %v", d, err)
	}
	_, err := Describe(bytes.NewReader(whole[:2*len(parts[0])]))
	wantError(t, err, filter.ErrCorrupt, "truncated")
	whole[len(parts[0])-1] ^= 1
	_, err = Describe(bytes.NewReader(whole))
	wantError(t, err, filter.ErrCorrupt, "everbloom: ", "crc32c")
}

func TestDescriptionsKeepTheSecret(t *testing.T) {
	d, err := Describe(bytes.NewReader(golden(t, "v1-shards.golden")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	wantNoSecret(t, string(text))
	for _, part := range []string{`"kind":"blocked"`, `"hash":"siphash"`, `"shards":3`, `"shape":{"blocks":`, `"keys":`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s has no %s", text, part)
		}
	}
}
