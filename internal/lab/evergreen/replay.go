package evergreen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var replay = lab.Experiment{
	ID:       "evergreen/replay",
	Title:    "A real set that changes",
	Question: "Does a filter that follows the history of a public block list answer for the list as it is in the end, and at the asked rate all the way?",
	Says: "Package comment: it deletes exactly; a key that is not there is refused, exactly; the rate is kept. README: all that delete but evergreen and elastic must be asked to delete only keys that were added. " +
		"The data's own description: 198 versions in 17 days, 510,523 operations (339,230 adds, of which 180,280 are the first version, and 171,293 deletes), 167,937 entries in the end.",
	Quick: lab.Params{
		lab.Int("first keys", 20_000), lab.Int("versions", 198), lab.Int("looks", 12), lab.Int("queries", 20_000), lab.Float("rate", 0.01),
	},
	Full: lab.Params{
		lab.Int("first keys", 180_280), lab.Int("versions", 198), lab.Int("looks", 66), lab.Int("queries", 500_000), lab.Float("rate", 0.01),
	},
	Data: []string{historyFile},
	Run:  runReplay,
}

// A follower is a filter that follows the history. Those of fixed size are made
// for the first version; evergreen is told nothing.
type follower struct {
	name string
	make func(items uint64, rate float64) (filter.Deleter, error)
}

var followers = []follower{
	{ownName, func(_ uint64, rate float64) (filter.Deleter, error) {
		return evergreen.New(evergreen.Config{FPR: rate})
	}},
	{"evergreen, 32 bits", func(_ uint64, rate float64) (filter.Deleter, error) {
		return evergreen.New(evergreen.Config{FPR: rate, Width: 32})
	}},
	{lazyName, func(n uint64, rate float64) (filter.Deleter, error) {
		return elastic.New(elastic.Config{Items: n, FPR: rate})
	}},
	{"counting", func(n uint64, rate float64) (filter.Deleter, error) {
		return counting.New(counting.Config{Items: n, FPR: rate})
	}},
	{"dleft", func(n uint64, rate float64) (filter.Deleter, error) {
		return dleft.New(dleft.Config{Items: n, FPR: rate})
	}},
	{"deletable", func(n uint64, rate float64) (filter.Deleter, error) {
		return deletable.New(deletable.Config{Items: n, FPR: rate})
	}},
	{dynamicName, func(n uint64, rate float64) (filter.Deleter, error) {
		return dynamic.New(dynamic.Config{Items: n, FPR: rate})
	}},
}

// A diary is what became of a follower.
type diary struct {
	name             string
	looks            []look // their versions are in at
	at               []int
	refused          int // additions
	pinned, notFound int // deletions that were refused
	miscounted       int // looks at which Len was not the number of keys
	denied, members  int // in the end, all of them
	gone, revived    int // deletes of keys that did not come back, and those of them that are still there by fingerprints
	strayed          int // deletes of absent keys that were not refused, in the end
	strays           int
	wrongKeys        int // given by Keys and not in the set, or the other way round
}

func runReplay(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	h := history{}
	if e.Data != "" {
		var err error
		if h, err = readHistory(filepath.Join(e.Data, historyFile)); err != nil {
			return nil, err
		}
	} else {
		h = inventHistory(e.Rand(0), e.Int("first keys"), e.Int("versions"))
	}
	diaries, err := lab.TryTrials(ctx, e, len(followers), func(i int, r *rand.Rand) (diary, error) {
		return followers[i].follow(ctx, e, h, newKeys(r))
	})
	if err != nil {
		return nil, err
	}
	result := &lab.Result{
		Tables: []lab.Table{diaryTable(diaries)},
		Plots:  []lab.Plot{diaryPlot(diaries, e.Float("rate")), keysPlot(diaries[0])},
		Checks: historyChecks(h),
	}
	for _, d := range diaries {
		result.Checks = append(result.Checks, d.checks(e.Float("rate"))...)
	}
	result.Notes = replayNotes(h)
	return result, nil
}

func replayNotes(h history) []string {
	adds, deletes := h.count()
	origin := "The history is invented: as many versions as the real one, with sizes of the same spread. With --data it is that of a public list of addresses (bitwire-it/ipblocklist, January 2026)."
	if h.real {
		origin = "The history is that of a public list of addresses (bitwire-it/ipblocklist, January 2026)."
	}
	return []string{
		origin,
		fmt.Sprintf("It has %d versions, %d adds and %d deletes. No key is added that is there, none deleted that is not; what filters do that are asked to is in the last column.", len(h.versions), adds, deletes),
		"Filters of fixed size, and elastic and dynamic, are made for the number of keys of the first version; evergreen is told nothing.",
	}
}

// follow replays the history and looks at the filter now and then.
func (w follower) follow(ctx context.Context, e *lab.Env, h history, k keys) (diary, error) {
	d := diary{name: w.name}
	f, err := w.make(uint64(len(h.versions[0])), e.Float("rate"))
	if err != nil {
		return d, err
	}
	set := map[filter.Key]bool{}
	refused := map[filter.Key]bool{}
	every := max(1, len(h.versions)/e.Int("looks"))
	for i, version := range h.versions {
		for _, c := range version {
			if err := d.apply(f, c, set, refused); err != nil {
				return d, fmt.Errorf("%s: version %d: %w", w.name, i, err)
			}
		}
		if i%every == 0 || i == len(h.versions)-1 {
			d.at = append(d.at, i)
			d.looks = append(d.looks, lookAt(f, set, k, i, e.Int("queries")))
			if n, ok := f.(interface{ Len() uint64 }); ok && n.Len() != uint64(len(set)) {
				d.miscounted++
			}
		}
		if ctx.Err() != nil {
			return d, ctx.Err()
		}
	}
	return d, d.settle(f, set, refused, h, k)
}

// apply makes one change to the filter and to the exact set. A key that the filter
// refused is not asked to be deleted: that could harm others.
func (d *diary) apply(f filter.Deleter, c change, set, refused map[filter.Key]bool) error {
	if c.add {
		set[c.key] = true
		_, err := f.Add(c.key)
		if errors.Is(err, filter.ErrFull) {
			refused[c.key] = true
			d.refused++
			return nil
		}
		return err
	}
	delete(set, c.key)
	if refused[c.key] {
		delete(refused, c.key)
		return nil
	}
	err := f.Delete(c.key)
	switch {
	case errors.Is(err, filter.ErrPinned):
		d.pinned++
	case errors.Is(err, filter.ErrNotFound):
		d.notFound++
	default:
		return err
	}
	return nil
}

// lookAt asks strangers that no other look asks, and about some members.
func lookAt(f filter.Filter, set map[filter.Key]bool, k keys, version, queries int) look {
	info, n := f.Info(), float64(len(set))
	l := look{
		keys: len(set), fast: float64(info.FastBits) / n, slow: float64(info.SlowBits) / n, says: info.FPR,
		asked: queries, blocks: info.FastBits / 512,
	}
	for i := range queries {
		if f.MayContain(k.stranger(version*queries + i)) {
			l.yes++
		}
	}
	return l
}

// settle compares with the exact set in the end.
func (d *diary) settle(f filter.Deleter, set, refused map[filter.Key]bool, h history, k keys) error {
	for key := range set {
		if !refused[key] {
			d.members++
			if !f.MayContain(key) {
				d.denied++
			}
		}
	}
	if own, ok := f.(*evergreen.Filter); ok {
		d.compareKeys(own, set)
		d.askGone(own, set, h)
	}
	d.strays = len(set)/2 + 1
	for i := range d.strays {
		err := f.Delete(k.stranger(-1 - i))
		if err == nil {
			d.strayed++
		} else if !errors.Is(err, filter.ErrNotFound) && !errors.Is(err, filter.ErrPinned) {
			return err
		}
	}
	return nil
}

// askGone looks for what was deleted and did not come back.
func (d *diary) askGone(f *evergreen.Filter, set map[filter.Key]bool, h history) {
	for _, version := range h.versions {
		for _, c := range version {
			if c.add || set[c.key] {
				continue
			}
			d.gone++
			if f.Contains(c.key) {
				d.revived++
			}
		}
	}
}

// compareKeys takes the filter's own list of keys, which only whole keys allow.
func (d *diary) compareKeys(f *evergreen.Filter, set map[filter.Key]bool) {
	if !f.Shape().Exact() {
		return
	}
	given := 0
	for key := range f.Keys() {
		given++
		if !set[key] {
			d.wrongKeys++
		}
	}
	d.wrongKeys += max(0, len(set)-given)
}
