package everbloom

import (
	"bytes"
	"encoding/json"
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
					listed := kind == "evergreen" && info.SlowBits == 0 // few keys are stored as more would be
					if !listed && (sum.FastBits != info.FastBits || sum.SlowBits != info.SlowBits) {
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
// sharded one the last payload is not looked at.
func TestDescribeNeedsNoPayload(t *testing.T) {
	whole := golden(t, "v1-bloom.golden")
	want, err := Describe(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		d, err := Describe(bytes.NewReader(whole[:n]))
		switch {
		case n < headerSize(whole):
			wantError(t, err, filter.ErrCorrupt, "everbloom: ", "truncated")
		case err != nil || d.Summary != want.Summary || d.Kind != "bloom":
			t.Fatalf("cut at %d, behind a header of %d: %+v, %v", n, headerSize(whole), d, err)
		}
	}

	whole = golden(t, "v1-shards.golden")
	parts := frames(whole)
	last := len(whole) - len(parts[2])
	if d, err := Describe(bytes.NewReader(whole[:last+headerSize(parts[2])])); err != nil || d.Shards != 3 {
		t.Errorf("without the last payload: %+v, %v", d, err)
	}
	_, err = Describe(bytes.NewReader(whole[:last]))
	wantError(t, err, filter.ErrCorrupt, "truncated")
	damaged := bytes.Clone(whole)
	damaged[len(parts[0])-1] ^= 1
	_, err = Describe(bytes.NewReader(damaged))
	wantError(t, err, filter.ErrCorrupt, "everbloom: ", "crc32c")
}

// TestDescribeShowsWhatReadRefuses: a bare filter can be looked at, an unknown
// kind cannot.
func TestDescribeShowsWhatReadRefuses(t *testing.T) {
	bare := image(t, mustBloom(t, 10), nil, 0, 1)
	d, err := Describe(bytes.NewReader(bare))
	if err != nil || d.Kind != "bloom" || d.Hash != "" || d.Summary.Capacity != 10 {
		t.Errorf("a bare filter: %+v, %v", d, err)
	}
	for offset, target := range map[int]error{11: filter.ErrKind, 25: filter.ErrCorrupt} {
		b := golden(t, "v1-bloom.golden")
		b[offset] = 0x7F
		reseal(b)
		d, err := Describe(bytes.NewReader(b))
		wantError(t, err, target, "everbloom: ")
		if d.Kind != "" {
			t.Errorf("%+v beside the error %v", d, err)
		}
	}
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
