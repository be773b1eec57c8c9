package kinds

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/frame"
)

// All returns the table of kinds, simplest first. It is not a copy, because every New of
// a set asks for it: rows must not be changed.
func All() []Kind { return slices.Clip(table) }

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
		Maker: made(
			func(c Config) bloom.Config { return bloom.Config{Items: c.Items, FPR: c.FPR} },
			bloom.New, bloom.Read, shaped(bloom.Config.Shape),
		),
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
		Maker: made(
			func(c Config) bloom.Config { return bloom.Config{Items: c.Items, FPR: c.FPR} },
			bloom.NewBlocked, bloom.ReadBlocked, shaped(bloom.Config.BlockedShape),
		),
	},
	{
		Name:         "counting",
		Number:       frame.Counting,
		Title:        "a Bloom filter of counters",
		Strength:     "deletes every key, and is never full",
		Weakness:     "four times the memory of bloom; a key must be deleted as often as it was added, and never if it was not",
		Duplicates:   filter.DuplicatesCounted,
		Deleting:     "yes",
		AbsentDelete: harms,
		PastCapacity: "accepts, the rate rises",
		Merging:      "∪ adds, ∩ takes the minimum, equal shape",
		Maker: made(
			func(c Config) counting.Config { return counting.Config{Items: c.Items, FPR: c.FPR} },
			counting.New, counting.Read, shaped(counting.Config.Shape),
		),
	},
	{
		Name:         "deletable",
		Number:       frame.Deletable,
		Title:        "a Bloom filter that remembers where keys collided",
		Strength:     "the smallest that deletes",
		Weakness:     "one key in ten cannot be deleted when all are in, nor one that was added twice; replacing keys wears it out: made for 1 %, the rate is 2.4 % after half of the keys were replaced, 5.5 % after all, 18 % after all twice",
		Duplicates:   filter.DuplicatesPin,
		Pins:         true,
		Deleting:     "done or pinned",
		AbsentDelete: harms,
		PastCapacity: "accepts, the rate rises, more keys are pinned",
		Merging:      "∪ pins what is in both, ∩, equal shape",
		Maker: made(
			func(c Config) deletable.Config { return deletable.Config{Items: c.Items, FPR: c.FPR} },
			deletable.New, deletable.Read, shaped(deletable.Config.Shape),
		),
	},
	{
		Name:         "dleft",
		Number:       frame.DLeft,
		Title:        "a table of fingerprints with d choices",
		Strength:     "deletes every key; half the memory of counting at 1 %, less at lower rates",
		Weakness:     "refuses keys when it is full; a key must be deleted as often as it was added, and never if it was not",
		Duplicates:   filter.DuplicatesCounted,
		Deleting:     "yes",
		AbsentDelete: harms,
		PastCapacity: "refuses when full",
		Merging:      "∪ adds if there is room, ∩, equal shape",
		Maker: made(
			func(c Config) dleft.Config { return dleft.Config{Items: c.Items, FPR: c.FPR} },
			dleft.New, dleft.Read, shaped(dleft.Config.Shape),
		),
	},
	{
		Name:         "scalable",
		Number:       frame.Scalable,
		Title:        "a list of filters, each twice as large as the one before",
		Strength:     "grows and keeps the rate, one cache line for each doubling",
		Weakness:     "12.6 bits per key at 1 % if the first size was right, 14 to 48 after it has grown",
		Grows:        true,
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "–",
		AbsentDelete: "–",
		PastCapacity: "never full, keeps the rate",
		Merging:      "–",
		Maker: made(
			func(c Config) scalable.Config { return scalable.Config{Items: c.Items, FPR: c.FPR} },
			scalable.New, scalable.Read, shaped(scalable.Config.Shape),
		),
	},
	{
		Name:         "partition",
		Number:       frame.Partition,
		Title:        "a tree of small filters over a partition of the keys",
		Strength:     "grows and keeps the rate, and merges sets of any sizes exactly",
		Weakness:     "43 to 55 bits per key at 1 %, 12 to 17 of them read by queries, and with the holes in the heap 55 to 75 resident; adding takes several times as long as to bloom",
		Grows:        true,
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "–",
		AbsentDelete: "–",
		PastCapacity: "never full, keeps the rate up to some 120 million keys",
		Merging:      "∪ ∩, any sizes",
		Maker: made(
			func(c Config) partition.Config { return partition.Config{Items: c.Items, FPR: c.FPR} },
			partition.New, partition.Read, shaped(partition.Config.Shape),
		),
	},
	{
		Name:         "dynamic",
		Number:       frame.Dynamic,
		Title:        "a list of equal counting filters",
		Strength:     "grows, and deletes",
		Weakness:     "for every further time the keys it was made for, the rate rises by the asked one, a query takes as long again, and more keys cannot be deleted",
		Grows:        true,
		Drifts:       true,
		Duplicates:   filter.DuplicatesCounted,
		Pins:         true,
		Deleting:     "done or pinned",
		AbsentDelete: harms,
		PastCapacity: "never full, the rate rises",
		UnionOnly:    true,
		Merging:      "∪ joins the lists, equal shape; no ∩",
		Maker: made(
			func(c Config) dynamic.Config { return dynamic.Config{Items: c.Items, FPR: c.FPR} },
			dynamic.New, dynamic.Read, shaped(dynamic.Config.Shape),
		),
	},
	{
		Name:         "parallel",
		Number:       frame.Parallel,
		Title:        "many dynamic filters, each with its lock",
		Strength:     "like dynamic, for many goroutines that add and delete at the same time",
		Weakness:     "the rate, the time of a query and the share of keys that cannot be deleted grow as the set does",
		Grows:        true,
		Drifts:       true,
		Duplicates:   filter.DuplicatesCounted,
		Pins:         true,
		Deleting:     "done or pinned",
		AbsentDelete: harms,
		PastCapacity: "never full, the rate rises",
		UnionOnly:    true,
		Merging:      "∪ joins the lists, equal shape; no ∩",
		Maker: made(
			func(c Config) dynamic.Config { return dynamic.Config{Items: c.Items, FPR: c.FPR} },
			dynamic.NewParallel, dynamic.ReadParallel, shaped(dynamic.Config.ParallelShape),
		),
	},
	{
		Name:         "elastic",
		Number:       frame.Elastic,
		Title:        "a Bloom filter with a bucket of fingerprints beside every bit",
		Strength:     "grows, shrinks, deletes exactly, keeps the rate, and readers never wait",
		Weakness:     "1,400 to 4,300 bits per key at 1 %, of which queries read 10 to 22; changes take a microsecond or two, and uniting the same keys again and again fills it",
		Grows:        true,
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "yes",
		AbsentDelete: "refused",
		PastCapacity: "full when its fingerprints have no bits left to grow by",
		Merging:      "∪ ∩, any sizes; keys in both take room twice",
		Maker: made(
			func(c Config) elastic.Config {
				return elastic.Config{Items: c.Items, FPR: c.FPR, SlowFile: c.SlowFile}
			},
			elastic.New, elastic.Read, shaped(elastic.Config.Shape),
		),
		ReadSlow: slowly(elastic.ReadSlow),
	},
	{
		Name:         "perennial",
		Number:       frame.Perennial,
		Title:        "fingerprints of several lengths in a ring of cache lines",
		Strength:     "deletes, grows and shrinks a cache line at a time at 16 to 17 bits per key at 1 %, keeps the rate, and readers never wait",
		Weakness:     "a key must be deleted as often as it was added, and never if it was not; adding takes longer than to dleft",
		Grows:        true,
		Duplicates:   filter.DuplicatesCounted,
		Deleting:     "yes",
		AbsentDelete: harms,
		PastCapacity: "never full, keeps the rate up to some 2 billion keys",
		UnionOnly:    true,
		Merging:      "∪ adds, any sizes, equal slots; no ∩",
		Maker: made(
			func(c Config) perennial.Config { return perennial.Config{Items: c.Items, FPR: c.FPR} },
			perennial.New, perennial.Read, shaped(perennial.Config.Shape),
		),
	},
	{
		Name:         "evergreen",
		Number:       frame.Evergreen,
		Title:        "one cache line of bits and one stored fingerprint per key",
		Strength:     "deletes exactly, grows and shrinks a block at a time, keeps the rate, one cache line per query, and readers never wait",
		Weakness:     "about 80 bits per key at 1 %, of which queries read 12; a plain list below 512 keys",
		Grows:        true,
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "exact",
		AbsentDelete: "refused",
		PastCapacity: "never full, keeps the rate",
		Merging:      "∪ ∩, any sizes",
		Maker: made(
			func(c Config) evergreen.Config {
				if c.FPR < 1 {
					c.FPR = min(c.FPR, 0.5) // it holds no higher rate
				}
				return evergreen.Config{Items: c.Items, FPR: c.FPR, SlowFile: c.SlowFile}
			},
			evergreen.New, evergreen.Read, evergreen.Config.Predict,
		),
		ReadSlow: slowly(evergreen.ReadSlow),
	},
}

// harms says what deleting an absent key does where nothing but the filter's own
// answer tells that it is absent.
const harms = "usually refused; if it is a false positive, other keys may be lost"
