package field

import (
	"errors"
	"fmt"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
)

// A merger is two filters that are to become one, and what must be in it then.
type merger struct {
	otherItems   int // what the other was made for
	otherKeys    int // how many it has, from a third of n on
	first, count int // members of the result
	merge        func(f, other filter.Filter) error
}

// tryMerge unites and intersects two filters that have a third of their keys in
// common: made alike, made alike and grown to unequal sizes, and made for unequal
// numbers of keys.
func (b bench) tryMerge() (trial, error) {
	if !b.kind.Abilities().Merge {
		f, err := b.make(b.n)
		if err != nil {
			return trial{}, err
		}
		return trial{dash, errors.Is(filter.Union(f, f), errors.ErrUnsupported) && b.kind.Merging == dash}, nil
	}
	third := b.n / 3
	mergers := []merger{
		{b.n, 2 * third, 0, 3 * third, filter.Union},
		{b.n, 2 * third, third, third, filter.Intersect},
		{b.n, 8 * third, 0, 9 * third, filter.Union},
		{4 * b.n, 2 * third, 0, 3 * third, filter.Union},
	}
	if !b.kind.Grows {
		mergers[2] = mergers[0]
	}
	refusals, lost := make([]error, len(mergers)), 0
	for i, m := range mergers {
		refusal, n, err := b.merged(m)
		if err != nil {
			return trial{}, err
		}
		refusals[i], lost = refusal, lost+n
	}
	t := trial{words: fmt.Sprintf("∪ %s, ∩ %s, ∪ with more keys %s, ∪ of those made for unequal numbers %s",
		word(refusals[0]), word(refusals[1]), word(refusals[2]), word(refusals[3]))}
	if lost > 0 {
		t.words += fmt.Sprintf("; %d members denied", lost)
	}
	t.ok = lost == 0 && refusals[0] == nil && b.asSaid(refusals[1], refusals[2], refusals[3])
	return t, nil
}

// asSaid compares the answers with the table. Where that says "any sizes" it means
// sizes that filters of one shape have grown to; some then also merge filters that
// were made for other numbers, which is welcome.
func (b bench) asSaid(common, grown, unequal error) bool {
	if b.kind.UnionOnly != errors.Is(common, errors.ErrUnsupported) || !b.kind.UnionOnly && common != nil {
		return false
	}
	if strings.Contains(b.kind.Merging, "any sizes") {
		return grown == nil && (unequal == nil || errors.Is(unequal, filter.ErrIncompatible))
	}
	return grown == nil && errors.Is(unequal, filter.ErrIncompatible)
}

// merged makes two filters, merges them and counts the members that are denied. A
// refusal is an answer: then nothing must have changed.
func (b bench) merged(m merger) (refusal error, lost int, err error) {
	third := b.n / 3
	f, err := b.make(b.n)
	if err != nil {
		return nil, 0, err
	}
	other, err := b.make(m.otherItems)
	if err != nil {
		return nil, 0, err
	}
	if _, err := fill(f, b.keys, 0, 2*third); err != nil {
		return nil, 0, err
	}
	if _, err := fill(other, b.keys, third, m.otherKeys); err != nil {
		return nil, 0, err
	}
	if refusal := m.merge(f, other); refusal != nil {
		return refusal, denied(f, b.keys, 0, 2*third), nil
	}
	return nil, denied(f, b.keys, m.first, m.count), nil
}

func word(refusal error) string {
	switch {
	case refusal == nil:
		return "yes"
	case errors.Is(refusal, filter.ErrIncompatible), errors.Is(refusal, errors.ErrUnsupported):
		return "refused"
	}
	return refusal.Error()
}
