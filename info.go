package everbloom

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// Info describes a set at one moment; each shard is looked at by itself.
type Info struct {
	filter.Info
	Hash   string `json:"hash"`
	Shards int    `json:"shards"`
}

// String describes the set in a line, for logs.
func (i Info) String() string {
	if i.Shards == 0 {
		return "the zero Set"
	}
	text := fmt.Sprintf("%v, hash %s", i.Info, i.Hash)
	if i.Shards > 1 {
		text += fmt.Sprintf(", %d shards", i.Shards)
	}
	return text
}

// Info describes the set as it stands.
func (s *Set) Info() Info {
	if len(s.shards) == 0 {
		return Info{}
	}
	sum := s.shards[0].info()
	for i := range s.shards[1:] {
		sum = addInfo(sum, s.shards[i+1].info())
	}
	n := float64(len(s.shards))
	if n > 1 {
		sum.Details = nil // they are those of one shard, in words that cannot be added
	}
	sum.FPR /= n
	sum.Fill /= n
	return Info{Info: sum, Hash: s.hash.Name(), Shards: len(s.shards)}
}

func (sh *shard) info() filter.Info {
	sh.freeze()
	defer sh.thaw()
	return sh.filter.Info()
}

// addInfo adds b to a; rates and fills are added, too, for a mean.
func addInfo(a, b filter.Info) filter.Info {
	a.Keys = addKeys(a.Keys, b.Keys)
	a.Exact = a.Exact && b.Exact
	a.Capacity += b.Capacity
	a.FastBits += b.FastBits
	a.SlowBits += b.SlowBits
	a.FPR += b.FPR
	a.Fill += b.Fill
	a.Overfull = a.Overfull || b.Overfull
	return a
}

// addKeys adds two numbers of keys. Full filters estimate an endless one.
func addKeys(a, b uint64) uint64 {
	return min(a, math.MaxInt64) + min(b, math.MaxInt64-min(a, math.MaxInt64))
}

// Len returns the number of keys in the set: exact where Info says so, else an
// estimate.
func (s *Set) Len() uint64 { return s.Info().Keys }

// A Shape is the geometry of a filter, as named numbers in a fixed order. It prints
// itself, and is an object in JSON.
type Shape struct{ numbers frame.Shape }

// String returns the numbers as name=value, separated by spaces.
func (s Shape) String() string { return s.numbers.String() }

// MarshalJSON returns an object with the numbers in their order.
func (s Shape) MarshalJSON() ([]byte, error) { return s.numbers.MarshalJSON() }

// A Summary is what is known of the filter in a file before it is loaded.
type Summary struct {
	Keys     uint64 `json:"keys"`
	Capacity uint64 `json:"capacity"`  // keys it was made for; 0 if unknown or without limit
	SetBits  uint64 `json:"set_bits"`  // or what the kind has instead: counters above zero, cells in use
	FastBits uint64 `json:"fast_bits"` // memory that queries read
	SlowBits uint64 `json:"slow_bits"` // memory that only changes read
}

// A Description is what the file of a set says about itself.
type Description struct {
	Kind    string  `json:"kind"`
	Version uint16  `json:"version"` // of the kind's format
	Hash    string  `json:"hash"`    // "" if the file holds a bare filter
	Shards  int     `json:"shards"`
	Shape   Shape   `json:"shape"` // of one shard
	Summary Summary `json:"summary"`
}

// Describe reads what r says about itself, without loading the filter. Of a set
// with several shards it passes over the content to add up their summaries.
func Describe(r io.Reader) (Description, error) {
	var d Description
	for part, err := range parts(frame.Parts(r)) {
		if err != nil {
			return Description{}, fmt.Errorf("everbloom: %w", err)
		}
		h := part.Header()
		if h.Part == 0 {
			if d, err = describe(h); err != nil {
				return Description{}, fmt.Errorf("everbloom: %w", err)
			}
		} else {
			d.add(h.Summary)
		}
		if h.Part+1 == h.Parts {
			break
		}
		if _, err := io.Copy(io.Discard, part); err != nil {
			return Description{}, fmt.Errorf("everbloom: %w", err)
		}
	}
	return d, nil
}

func describe(h frame.Header) (Description, error) {
	k, err := kinds.ByNumber(h.Kind)
	if err != nil {
		return Description{}, err
	}
	d := Description{Kind: k.Name, Version: h.Version, Shards: int(h.Parts), Shape: Shape{h.Shape}, Summary: Summary(h.Summary)}
	hash, err := hashOf(h)
	if errors.Is(err, errNoHash) {
		return d, nil
	}
	d.Hash = hash.Name()
	return d, err
}

func (d *Description) add(s frame.Summary) {
	d.Summary.Keys = addKeys(d.Summary.Keys, s.Keys)
	d.Summary.Capacity += s.Capacity
	d.Summary.SetBits += s.SetBits
	d.Summary.FastBits += s.FastBits
	d.Summary.SlowBits += s.SlowBits
}

// errNoHash is the answer to a file of a filter that was not in a set.
var errNoHash error = &filter.FormatError{
	Field: "header: hash", Value: "none", Offset: frame.HashOffset,
	Err: errors.New("a bare filter without a hash: read it with the filter's own package"),
}

// hashOf returns the hash that a header names.
func hashOf(h frame.Header) (hash filter.Hash, err error) {
	if len(h.Hash) == 0 {
		return hash, errNoHash
	}
	err = hash.UnmarshalBinary(h.Hash)
	if format := new(filter.FormatError); errors.As(err, &format) {
		format.Offset += frame.HashOffset
	}
	return hash, err
}
