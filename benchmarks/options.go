package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// options is what the command line asks for.
type options struct {
	n       []uint64
	fprs    []float64
	sizes   []int
	threads []int

	rounds int
	fills  int // 0: chosen by size
	pass   time.Duration
	probes int
	seed   uint64
	mem    uint64

	only *regexp.Regexp // nil: all
	base string
	json string

	journey string // the picture to write; empty: none

	short, list, bars, shared bool
}

const usage = `usage: go run . [flags]

Measures everbloom's filters and others side by side and prints Markdown tables.

Examples:
  go run . -short                             a first look, under 90 seconds
  go run . -n 10k,1M -fpr 1%,0.1% -rounds 9   better figures
  go run . -n 50M -only 'floor|parquet|blob'  large sets, some contenders
  go run . -n 1M -threads 1,2                 two readers at a time
  go run . -shared -n 1M -rounds 11           one and two goroutines that share a set
  go run . -journey ../docs/journey.svg       a set that grows and shrinks, as a picture
  go run . -bars -json bars.json              the limits everbloom has set itself

Exit status: 0, or 1 if a filter does not find a key that it holds, 2 if the flags are wrong,
3 if -bars finds a limit that is not met.

Flags:
`

// The settings of a plain run, of -short, -bars and -journey. A flag that is given wins.
var (
	plainSettings = map[string]string{"n": "10k,1M", "fpr": "1%", "keysize": "8", "threads": "1", "rounds": "5"}
	shortSettings = map[string]string{"rounds": "3"}
	barsSettings  = map[string]string{"n": "10k,1M,20M,50M", "fpr": "1%,0.1%"}

	journeySettings = map[string]string{"n": "10k,3M", "probes": "262144"}
)

// parseOptions reads the command line. Problems and the help go to w.
func parseOptions(args []string, w io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("benchmarks", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.Usage = func() { (&printer{w: w}).printf("%s", usage); fs.PrintDefaults() }
	o.define(fs)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("benchmarks: unexpected argument %q", fs.Arg(0))
	}
	if err := o.preset(fs); err != nil {
		return o, err
	}
	return o, o.check()
}

// define names the flags.
func (o *options) define(fs *flag.FlagSet) {
	listFlag(fs, &o.n, "n", "keys in the set, `counts` such as 10k,1M,50M (default 10k,1M)", quantity.ParseCount)
	listFlag(fs, &o.fprs, "fpr", "`rates` of false positives to ask for, such as 1%,0.1% (default 1%)", quantity.ParseRate)
	listFlag(fs, &o.sizes, "keysize", "`bytes` per key, such as 8,16 (default 8)", strconv.Atoi)
	listFlag(fs, &o.threads, "threads", "concurrent readers, `counts` such as 1,2; and writers, where a contender promises that this is safe (default 1)", strconv.Atoi)
	fs.IntVar(&o.rounds, "rounds", 0, "how `often` everything is measured (default 5)")
	fs.IntVar(&o.fills, "fills", 0, "in how `many` of the rounds to measure inserts and deletes (default all, and 2 beyond 10M keys)")
	fs.DurationVar(&o.pass, "pass", 100*time.Millisecond, "`time` for each operation of each contender in a round")
	fs.IntVar(&o.probes, "probes", 1<<20, "absent `keys` to measure the rate with")
	fs.Uint64Var(&o.seed, "seed", 1, "`number` the keys are made from")
	o.mem = 12 << 30
	fs.Func("mem", "memory for filters, a `size` such as 4GiB (default 12GiB)", setTo(&o.mem, quantity.ParseBytes))
	fs.Func("only", "measure only contenders whose name matches this `regexp`", setTo(&o.only, regexp.Compile))
	fs.StringVar(&o.base, "base", "bits-and-blooms", "`contender` the ratios are taken to; empty for none")
	fs.StringVar(&o.json, "json", "", "write the raw results to this `file`")
	fs.BoolVar(&o.short, "short", false, "few contenders and rounds")
	fs.BoolVar(&o.bars, "bars", false, "measure what the limits need, and check them")
	fs.BoolVar(&o.shared, "shared", false, "measure one and two goroutines that share a set, with the first of -n")
	fs.StringVar(&o.journey, "journey", "", "measure sets that grow from the smallest to the largest of -n and shrink again; write a picture to this `file`, .svg, and the figures beside it, .csv")
	fs.BoolVar(&o.list, "list", false, "list the contenders and stop")
}

// preset gives flags that were not given the value that goes with the others.
func (o *options) preset(fs *flag.FlagSet) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	presets := []map[string]string{plainSettings}
	if o.short {
		presets = append(presets, shortSettings)
	}
	if o.bars {
		presets = append(presets, barsSettings)
	}
	if o.journey != "" {
		presets = append(presets, journeySettings)
	}
	var errs []error
	for _, preset := range presets {
		for name, value := range preset {
			if !given[name] {
				errs = append(errs, fs.Set(name, value))
			}
		}
	}
	return errors.Join(errs...)
}

// check reports everything that cannot be measured.
func (o *options) check() error {
	var errs []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("benchmarks: "+format, args...))
		}
	}
	wrong(slices.Min(o.n) < 2 || slices.Max(o.n) >= 1<<32, "-n: %d: sets have 2 to 2^32-1 keys", o.n)
	wrong(slices.Min(o.fprs) <= 0 || slices.Max(o.fprs) >= 1, "-fpr: %g: rates lie between 0 and 1", o.fprs)
	wrong(slices.Min(o.sizes) < 8, "-keysize: %d: keys have 8 bytes or more", o.sizes)
	wrong(slices.Min(o.threads) < 1, "-threads: %d: at least 1", o.threads)
	wrong(o.rounds < 1, "-rounds: %d: at least 1", o.rounds)
	wrong(o.fills < 0 || o.fills > o.rounds, "-fills: %d: 0 to %d, the rounds", o.fills, o.rounds)
	wrong(o.pass <= 0, "-pass: %v: must be positive", o.pass)
	wrong(o.probes < 1, "-probes: %d: at least 1", o.probes)
	wrong(o.journey != "" && !strings.HasSuffix(o.journey, ".svg"), "-journey: %s: the name must end in .svg", o.journey)
	slices.Sort(o.threads)
	return errors.Join(errs...)
}

// fillsFor returns in how many rounds sets of n keys are filled anew. Filling a large set takes
// much longer than asking it.
func (o *options) fillsFor(n uint64) int {
	switch {
	case o.fills > 0:
		return o.fills
	case n > 10_000_000:
		return min(2, o.rounds)
	}
	return o.rounds
}

// listFlag defines a flag that takes a list with commas.
func listFlag[T any](fs *flag.FlagSet, list *[]T, name, help string, parse func(string) (T, error)) {
	fs.Func(name, help, func(text string) error {
		*list = nil
		for item := range strings.SplitSeq(text, ",") {
			x, err := parse(strings.TrimSpace(item))
			if err != nil {
				return err
			}
			*list = append(*list, x)
		}
		return nil
	})
}

// setTo returns a flag's function that keeps what parse makes of the text.
func setTo[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*to, err = parse(text)
		return err
	}
}

// threadsText writes a number of threads.
func threadsText(threads int) string {
	if threads == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", threads)
}
