package filter

import (
	"errors"
	"testing"
)

type testShape struct {
	Bits   uint64
	Hashes int
}

type shaped struct {
	*bare
	shape testShape
}

func (f shaped) Shape() testShape { return f.shape }

func TestPeerNamesWhatDiffers(t *testing.T) {
	f := shaped{newBare(1), testShape{64, 3}}
	twin := shaped{newBare(2), testShape{64, 3}}
	if got, err := Peer(f, twin); err != nil || got != twin {
		t.Errorf("a filter of equal shape: %v, error %v", got, err)
	}
	for _, c := range []struct {
		other Filter
		want  string
	}{
		{newBare(1), "filter: merge bare with bare: filters are incompatible"},
		{nil, "filter: merge bare with nothing: filters are incompatible"},
		{shaped{newBare(1), testShape{128, 3}}, "filter: merge two of kind bare: bits is 64 in one and 128 in the other: filters are incompatible"},
		{shaped{newBare(1), testShape{64, 4}}, "filter: merge two of kind bare: hashes is 3 in one and 4 in the other: filters are incompatible"},
	} {
		if _, err := Peer(f, c.other); err == nil || err.Error() != c.want || !errors.Is(err, ErrIncompatible) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}
