package field

import (
	"errors"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// kindDim varies the kind.
func kindDim(list []kinds.Kind) lab.Dim {
	return lab.AmongAll("kind", list, func(k kinds.Kind) string { return k.Name })
}

// build makes a filter of a kind for n keys.
func build(k kinds.Kind, n int, rate float64) (filter.Filter, error) {
	return k.New(kinds.Config{Items: uint64(n), FPR: rate})
}

// newKind makes a filter of n keys at 1 %.
func newKind(name string, n int) (filter.Filter, error) {
	k, err := kinds.ByName(name)
	if err != nil {
		return nil, err
	}
	return build(k, n, 0.01)
}

// fill adds members from first on, and returns how many were refused for want of room.
func fill(f filter.Filter, k walk.Keys, first, count int) (refused int, err error) {
	for i := range count {
		if _, err := f.Add(k.Member(first + i)); err != nil {
			if !errors.Is(err, filter.ErrFull) {
				return refused, err
			}
			refused++
		}
	}
	return refused, nil
}

// denied counts members that get a no.
func denied(f filter.Filter, k walk.Keys, first, count int) (n int) {
	for i := range count {
		if !f.MayContain(k.Member(first + i)) {
			n++
		}
	}
	return n
}

// yeses counts strangers that get a yes.
func yeses(f filter.Filter, k walk.Keys, count int) (n int) {
	for i := range count {
		if f.MayContain(k.Stranger(i)) {
			n++
		}
	}
	return n
}
