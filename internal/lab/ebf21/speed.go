package ebf21

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// The operations of Fig. 5.
const (
	insertion = "insertion"
	present   = "positive query"
	absent    = "random query"
	deletion  = "deletion"
)

var nsAxis = lab.Axis{Label: "ns per operation", Log: true}

// to picks how many times as long as another a contender takes.
func to(work, name, other string) lab.Pick {
	return lab.Of(work, lab.Contenders, name).Over(lab.Of(work, lab.Contenders, other))
}

var fig5 = lab.Experiment{
	ID:       "ebf21/fig5",
	Title:    "Fig. 5: the speed of each operation",
	Question: "How long do insertion, query and deletion take in an elastic, a dynamic and a scalable filter, by how far the set has outgrown the initial size?",
	Says: "Sec. 5.3: 2^18 bits at first, equal thresholds of the rate. \"The insertion speed of EBF is slower than the other two\"; \"its query speed is much faster " +
		"than the other two\"; \"the deletion speed of EBF is faster when the relative peak data size is larger than 16\".",
	Params: lab.Params{lab.Int("initial size, log2", 13).Full(peakSize), lab.Floats("peaks", 1, 4, 16, 32).Full(1, 2, 4, 8, 16, 32, 64), lab.Int("queries", 1<<12).Full(1 << 16), lab.Int("rounds", 7).Full(11)},
	Run:    runFig5,
	Plots:  []lab.View{peakView(insertion), peakView(present), peakView(absent), peakView(deletion)},
	Claims: []lab.Claim{
		{Name: "insertion, EBF to DBF", Printed: "the insertion speed of EBF is slower than the other two", Where: "Sec. 5.3", Of: to(insertion, ebf, dbf), Is: lab.Above(lab.Number(1))},
		{Name: "insertion, EBF to SBF", Printed: "the insertion speed of EBF is slower than the other two", Where: "Sec. 5.3", Of: to(insertion, ebf, sbf), Is: lab.Above(lab.Number(1))},
		{Kind: lab.Question, Name: "by how much insertion is slower", Printed: "not said; the authors' program takes 5 to 7 times as long as its DBF and 14 to 17 times as long as its SBF", Of: to(insertion, ebf, dbf), Is: lab.Shows(), Show: []lab.Pick{to(insertion, ebf, sbf)}},
		{
			Kind: lab.Own, Name: "insertion, at most 6 times as long as into a DBF", Printed: "6 times at most, as in the authors' program", Of: to(insertion, ebf, dbf), Is: lab.AtMost(lab.Number(6)),
			Why: "an insertion takes less time than in the authors' program, but one into a DBF of ours takes half of theirs or less: it adds to the counters of one unit, where an EBF keeps five fingerprints in buckets of their own",
		},
		faster(present, dbf), faster(absent, dbf), faster(present, sbf), faster(absent, sbf), muchFaster(present, dbf), muchFaster(absent, dbf), muchFaster(present, sbf), muchFaster(absent, sbf),
		{Name: "deletion, EBF to DBF", Printed: "faster when the relative peak data size is larger than 16", Where: "Sec. 5.3", Of: to(deletion, ebf, dbf), Is: lab.In(lab.Span{Dim: "RPDS", From: 17}, lab.Below(lab.Number(1))), FullOnly: true},
		{Name: "what a DBF needs for a query", Printed: "the query time of DBF increases with its units", Where: "Sec. 2.2", Of: lab.Of(absent, lab.Contenders, dbf), Is: lab.Rises("RPDS")},
		{Name: "what a DBF needs for a deletion", Printed: "the time increases with its units", Where: "Sec. 2.2", Of: lab.Of(deletion, lab.Contenders, dbf), Is: lab.Rises("RPDS")},
	},
}

func faster(work, other string) lab.Claim {
	return lab.Claim{Name: work + ", EBF to " + other, Printed: "its query speed is faster than the other two", Where: "Sec. 5.3", Of: to(work, ebf, other), Is: lab.Below(lab.Number(1))}
}

func muchFaster(work, other string) lab.Claim {
	c := faster(work, other)
	c.Name, c.Printed, c.Is, c.FullOnly = c.Name+", much", "its query speed is much faster than the other two, taken as half of the time at most", lab.AtMost(lab.Number(1.0/lab.Much)), true
	c.Why = "a DBF or SBF of one or two units, as at a relative peak data size of 1, is asked in little more time than an EBF; and units of an SBF double, so that it never has many"
	return c
}

func peakView(work string) lab.View {
	return lab.View{Name: strings.ReplaceAll(work, " ", "-"), Title: "Time of one " + work, X: "RPDS", By: lab.Contenders, XAxis: peakAxis, Y: nsAxis, Curves: []lab.Curve{{Measured: work}}}
}

func runFig5(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	size := e.Int("initial size, log2")
	return lab.Find(ctx, e, race(e, []string{ebf, dbf, sbf}, func(name string, n float64, salt uint64) (filter.Filter, error) {
		return build(name, size, evenFill(name, size, n), salt)
	}), lab.Notes{
		"Distinct Stream. Counters have 4 bits. Thresholds are those of the authors' program: all units of a DBF, and of an SBF, together have the rate Ω^k when all keys are in. " +
			"All keys are deleted, in no order, so that compressions are in the mean. The others do not shrink, or drop units.",
	})
}

var slowfile = lab.Experiment{
	ID:       "ebf21/slowfile",
	Title:    "Sec. 4.3: slow memory on disk",
	Question: "What does an elastic filter cost whose buckets are in a file?",
	Says: "Sec. 4.3: \"the space of the slow memory (e.g., disk) is sufficient and the size of the Bloom filter in the fast memory can be up to 512MB\". Sec. 3.2.2: for a query " +
		"\"there is no need to access the slow memory so that we can achieve a high query speed\". No experiment with a disk is printed.",
	Params: lab.Params{lab.Int("initial size, log2", 12).Full(tableSize), lab.Floats("peaks", 16).Full(4, 32), lab.Int("queries", 1<<13).Full(1 << 18), lab.Int("rounds", 7).Full(9)},
	Run:    runSlowfile,
	Claims: []lab.Claim{
		{Name: "random query, file to memory", Printed: "there is no need to access the slow memory: at most 1.25 times the time", Where: "Sec. 3.2.2", Of: to(absent, onDisk, inMemory), Is: lab.AtMost(lab.Number(1.25))},
		{Name: "positive query, file to memory", Printed: "there is no need to access the slow memory: at most 1.25 times the time", Where: "Sec. 3.2.2", Of: to(present, onDisk, inMemory), Is: lab.AtMost(lab.Number(1.25))},
		{Kind: lab.Question, Name: "insertion, file to memory", Printed: "not said", Of: to(insertion, onDisk, inMemory), Is: lab.Shows(), Show: []lab.Pick{to(deletion, onDisk, inMemory)}},
	},
}

const (
	inMemory = "in memory"
	onDisk   = "in a file"
)

func runSlowfile(ctx context.Context, e *lab.Env) (result *lab.Result, err error) {
	folder, err := os.MkdirTemp("", "everbloom-lab")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return lab.Find(ctx, e, race(e, []string{inMemory, onDisk}, func(name string, _ float64, salt uint64) (filter.Filter, error) {
		c := elastic.Config{Items: uint64(fullKeys(float64(e.Int("initial size, log2")))), FPR: tableRate, Hashes: tableHashes, Salt: salt}
		if name == onDisk {
			c.SlowFile = filepath.Join(folder, fmt.Sprintf("%x", salt))
		}
		return elastic.New(c)
	}), lab.Notes{
		"The file is mapped and larger than its keys need; as long as the machine has memory to spare, it keeps the pages, and only the first touch of each costs.",
	})
}

// race times the operations of filters that are made for n keys.
func race(e *lab.Env, contenders []string, builder func(name string, n float64, salt uint64) (filter.Filter, error)) lab.Part {
	return lab.Race{
		Name: "times", Title: "Time of one operation", Dims: []lab.Dim{lab.Along("RPDS", e.Floats("peaks")...)}, Rounds: e.Int("rounds"), Contenders: contenders,
		Start: func(at lab.At, name string, r *rand.Rand) ([]lab.Lap, error) {
			n := peakKeys(at.Float("RPDS"), e.Int("initial size, log2"))
			f, err := builder(name, n, r.Uint64())
			return operate(f, r, int(n), e.Int("queries")), err
		},
	}
}

// strideLength is short against the changes of a machine and long against the misses
// that the contender before leaves behind.
const strideLength = 1 << 10

// operate fills a filter, asks it, empties it if that can be and closes it if it is to be.
func operate(f filter.Filter, r *rand.Rand, n, queries int) (laps []lab.Lap) {
	strides := func(name string, n int, do func(i int) error) {
		laps = append(laps, walk.Strides(name, n, strideLength, do)...)
	}
	keys, hits := lab.RandomKeys(r, n), make([]filter.Key, queries)
	for i := range hits {
		hits[i] = keys[r.IntN(n)]
	}
	others := lab.RandomKeys(r, queries)
	strides(insertion, n, func(i int) error { _, err := f.Add(keys[i]); return err })
	strides(present, queries, func(i int) error { f.MayContain(hits[i]); return nil })
	strides(absent, queries, func(i int) error { f.MayContain(others[i]); return nil })
	if d, ok := f.(filter.Deleter); ok {
		leaving := slices.Clone(keys)
		r.Shuffle(n, func(i, j int) { leaving[i], leaving[j] = leaving[j], leaving[i] })
		// A dynamic filter refuses keys that two of its units claim.
		strides(deletion, n, func(i int) error { _ = d.Delete(leaving[i]); return nil })
	}
	if c, ok := f.(io.Closer); ok {
		laps = append(laps, lab.Lap{Name: "closing", Ops: 1, Run: c.Close})
	}
	return laps
}
