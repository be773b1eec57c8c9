package kinds

import (
	"io"
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
	"github.com/everbloom-go/everbloom/filter/scalable"
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
		New:          as(newCounting),
		Read:         as(counting.Read),
		Predict:      predictCounting,
		Type:         (*counting.Filter)(nil),
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
		New:          as(newDeletable),
		Read:         as(deletable.Read),
		Predict:      remembered(predictDeletable),
		Type:         (*deletable.Filter)(nil),
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
		New:          as(newDLeft),
		Read:         as(dleft.Read),
		Predict:      predictDLeft,
		Type:         (*dleft.Filter)(nil),
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
		New:          as(newScalable),
		Read:         as(scalable.Read),
		Predict:      remembered(predictScalable),
		Type:         (*scalable.Filter)(nil),
	},
	{
		Name:         "partition",
		Number:       frame.Partition,
		Title:        "a tree of small filters over a partition of the keys",
		Strength:     "grows and keeps the rate, and merges sets of any sizes exactly",
		Weakness:     "44 to 49 bits per key at 1 %, 12 to 17 of them read by queries, and with the holes in the heap 55 to 75 resident; adding takes several times as long as to bloom",
		Grows:        true,
		Duplicates:   filter.DuplicatesIgnored,
		Deleting:     "–",
		AbsentDelete: "–",
		PastCapacity: "never full, keeps the rate up to some 120 million keys",
		Merging:      "∪ ∩, any sizes",
		New:          as(newPartition),
		Read:         as(partition.Read),
		Predict:      remembered(predictPartition),
		Type:         (*partition.Filter)(nil),
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
		New:          as(newDynamic),
		Read:         as(dynamic.Read),
		Predict:      remembered(predictDynamic),
		Type:         (*dynamic.Filter)(nil),
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
		New:          as(newParallel),
		Read:         as(dynamic.ReadParallel),
		Predict:      remembered(predictParallel),
		Type:         (*dynamic.Parallel)(nil),
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
		New:          as(newElastic),
		Read:         as(elastic.Read),
		ReadSlow:     slowly(elastic.ReadSlow),
		Predict:      remembered(predictElastic),
		Type:         (*elastic.Filter)(nil),
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
		New:          as(newEvergreen),
		Read:         as(evergreen.Read),
		ReadSlow:     slowly(evergreen.ReadSlow),
		Predict:      remembered(predictEvergreen),
		Type:         (*evergreen.Filter)(nil),
	},
}

// harms says what deleting an absent key does where nothing but the filter's own
// answer tells that it is absent.
const harms = "usually refused; if it is a false positive, other keys may be lost"

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

// slowly is as for functions that read into a slow file.
func slowly[F filter.Filter](read func(io.Reader, string) (F, error)) func(io.Reader, string) (filter.Filter, error) {
	return func(src io.Reader, slowFile string) (filter.Filter, error) {
		return as(func(src io.Reader) (F, error) { return read(src, slowFile) })(src)
	}
}

func newBloom(c Config) (*bloom.Filter, error) {
	return bloom.New(bloom.Config{Items: c.Items, FPR: c.FPR})
}

func newBlocked(c Config) (*bloom.Blocked, error) {
	return bloom.NewBlocked(bloom.Config{Items: c.Items, FPR: c.FPR})
}

func newCounting(c Config) (*counting.Filter, error) {
	return counting.New(counting.Config{Items: c.Items, FPR: c.FPR})
}

func newDeletable(c Config) (*deletable.Filter, error) {
	return deletable.New(deletable.Config{Items: c.Items, FPR: c.FPR})
}

func newDLeft(c Config) (*dleft.Filter, error) {
	return dleft.New(dleft.Config{Items: c.Items, FPR: c.FPR})
}

func newScalable(c Config) (*scalable.Filter, error) {
	return scalable.New(scalable.Config{Items: c.Items, FPR: c.FPR})
}

func newPartition(c Config) (*partition.Filter, error) {
	return partition.New(partition.Config{Items: c.Items, FPR: c.FPR})
}

func newDynamic(c Config) (*dynamic.Filter, error) {
	return dynamic.New(dynamic.Config{Items: c.Items, FPR: c.FPR})
}

func newParallel(c Config) (*dynamic.Parallel, error) {
	return dynamic.NewParallel(dynamic.Config{Items: c.Items, FPR: c.FPR})
}

func newElastic(c Config) (*elastic.Filter, error) {
	return elastic.New(elastic.Config{Items: c.Items, FPR: c.FPR, SlowFile: c.SlowFile})
}

func newEvergreen(c Config) (*evergreen.Filter, error) {
	return evergreen.New(c.evergreen())
}
