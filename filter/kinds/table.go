package kinds

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// All returns the table of kinds, simplest first.
func All() []Kind { return slices.Clone(table) }

var table = []Kind{
	{
		Name:         "bloom",
		Number:       frame.Bloom,
		Title:        "the standard Bloom filter",
		Strength:     "the smallest that can be merged",
		Weakness:     "a query reads a cache line per hash",
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "–",
		AbsentDelete: "–",
		PastCapacity: "accepts, the rate rises",
		Merging:      "∪ ∩, equal shape",
		New:          as(newBloom),
		Read:         as(bloom.Read),
		Predict:      predictBloom,
		Type:         (*bloom.Filter)(nil),
	},
	{
		Name:         "blocked",
		Number:       frame.Blocked,
		Title:        "a Bloom filter that keeps each key in one cache line",
		Strength:     "the fastest, one cache line per query",
		Weakness:     "5 to 10 % larger than bloom at rates between 1 % and 0.1 %, more beyond",
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "–",
		AbsentDelete: "–",
		PastCapacity: "accepts, the rate rises",
		Merging:      "∪ ∩, equal shape",
		New:          as(newBlocked),
		Read:         as(bloom.ReadBlocked),
		Predict:      predictBlocked,
		Type:         (*bloom.Blocked)(nil),
	},
}

// as turns a function that makes one kind of filter into one that makes a
// filter, with a nil interface in case of an error.
func as[In any, F filter.Filter](maker func(In) (F, error)) func(In) (filter.Filter, error) {
	return func(in In) (filter.Filter, error) {
		f, err := maker(in)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

func newBloom(c Config) (*bloom.Filter, error) {
	return bloom.New(bloom.Config{Items: c.Items, FPR: c.FPR})
}

func newBlocked(c Config) (*bloom.Blocked, error) {
	return bloom.NewBlocked(bloom.Config{Items: c.Items, FPR: c.FPR})
}
