package merging

import (
	"errors"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

type testShape struct {
	Bits   uint64
	Hashes int
}

// shaped is a filter that has nothing but a kind and a shape.
type shaped struct {
	filter.Filter
	kind  string
	shape testShape
}

func (f shaped) Info() filter.Info { return filter.Info{Kind: f.kind} }

func (f shaped) Shape() testShape { return f.shape }

func TestPeerNamesWhatDiffers(t *testing.T) {
	f := shaped{nil, "bare", testShape{64, 3}}
	twin := shaped{nil, "bare", testShape{64, 3}}
	if got, err := Peer(f, twin); err != nil || got != twin {
		t.Errorf("a filter of equal shape: %v, error %v", got, err)
	}
	for _, c := range []struct {
		other filter.Filter
		want  string
	}{
		{&shaped{kind: "other"}, "filter: merge: kind is bare in one and other in the other: filters are incompatible"},
		{nil, "filter: merge: kind is bare in one and nothing in the other: filters are incompatible"},
		{shaped{nil, "bare", testShape{128, 3}}, "filter: merge two of kind bare: bits is 64 in one and 128 in the other: filters are incompatible"},
		{shaped{nil, "bare", testShape{64, 4}}, "filter: merge two of kind bare: hashes is 3 in one and 4 in the other: filters are incompatible"},
	} {
		if _, err := Peer(f, c.other); err == nil || err.Error() != c.want || !errors.Is(err, filter.ErrIncompatible) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
