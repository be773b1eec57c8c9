package dynamic

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/internal/mem"
)

// A unit is one filter of a list.
type unit struct {
	words []uint64 // of the part, for queries
	set   uint64   // of the part, to look for room
	part  part
}

// A part is a *bloom.Filter or a *counting.Filter.
type part interface {
	filter.Merger
	Words() []uint64
	SetBits() uint64
	Len() uint64
}

var (
	_ part = (*bloom.Filter)(nil)
	_ part = (*counting.Filter)(nil)
)

// newUnit returns an empty unit, whose memory is untouched.
func newUnit(s Shape) (unit, error) {
	var p part
	var err error
	if s.plain() {
		p, err = bloom.Build(s.bloom())
	} else {
		p, err = counting.Build(s.counting())
	}
	if err != nil {
		return unit{}, fmt.Errorf("dynamic: %w", err)
	}
	return unit{words: p.Words(), part: p}, nil
}

// bloom returns the shape of a plain unit.
func (s Shape) bloom() bloom.Shape {
	return bloom.Shape{Bits: s.Positions, Hashes: s.Hashes, Salt: s.Salt}
}

// counting returns the shape of a unit that counts.
func (s Shape) counting() counting.Shape {
	return counting.Shape{Counters: s.Positions, Hashes: s.Hashes, CounterBits: s.CounterBits, Salt: s.Salt}
}

// unknownKeys stands for a number of keys that is beyond counting.
const unknownKeys = math.MaxUint64

// unitOver returns the unit with the given number of keys whose bits or counters
// are words. Plain units do not count their keys: their number is 0.
func unitOver(s Shape, keys uint64, words []uint64) (unit, error) {
	var p part
	var err error
	if s.plain() {
		p, err = bloom.FromWords(s.bloom(), words)
	} else {
		p, err = counting.FromWords(s.counting(), keys, words)
	}
	if err == nil && s.plain() && keys != 0 {
		err = fmt.Errorf("dynamic: a plain unit counts %d keys", keys)
	}
	if err != nil {
		return unit{}, err
	}
	return unit{words: words, set: p.SetBits(), part: p}, nil
}

// copied returns the unit in memory of its own.
func (u *unit) copied(s Shape) (unit, error) {
	words, err := mem.Clone(u.words)
	if err != nil {
		return unit{}, fmt.Errorf("dynamic: %w: %w", filter.ErrStorage, err)
	}
	return unitOver(s, u.keys(), words)
}

// keys returns how many keys were added to a counting unit and not deleted, or
// unknownKeys. For a plain unit it is 0.
func (u *unit) keys() uint64 {
	if c, ok := u.part.(*counting.Filter); ok {
		return c.Count()
	}
	return 0
}

// empty reports whether the unit has no keys. Counters that are saturated may be
// left in one that has none.
func (u *unit) empty() bool {
	_, plain := u.part.(*bloom.Filter)
	return u.set == 0 || !plain && u.keys() == 0
}

// add puts k into the unit and reports whether that set a position.
func (u *unit) add(k filter.Key) bool {
	fresh, _ := u.part.Add(k) // neither kind ever refuses
	u.set = u.part.SetBits()
	return fresh
}

// delete takes k out of a counting unit and reports whether it was there.
func (u *unit) delete(k filter.Key) bool {
	err := u.part.(*counting.Filter).Delete(k)
	u.set = u.part.SetBits()
	return err == nil
}

// union adds what is in v. Counters add up, saturating.
func (u *unit) union(v *unit) {
	_ = u.part.Union(v.part) // of equal shape, so it cannot be refused
	u.set = u.part.SetBits()
}
