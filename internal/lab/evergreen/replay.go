package evergreen

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

const exactly = "with whole keys everything is exact but MayContain"

var replay = lab.Experiment{
	ID:       "evergreen/replay",
	Title:    "A real set that changes",
	Question: "Does a filter that follows the history of a public block list answer for the list as it is in the end, and at the asked rate all the way?",
	Says: "Package comment: it deletes exactly; a key that is not there is refused, exactly; the rate is kept. README: all that delete but evergreen and elastic must be asked to delete only keys that were added. " +
		"The data's own description: 198 versions in 17 days, 510,523 operations (339,230 adds, of which 180,280 are the first version, and 171,293 deletes), 167,937 entries in the end.",
	Quick: replayParams(20_000, 12, 20_000), Full: replayParams(180_280, 66, 500_000),
	Data: []string{historyFile},
	Run:  runReplay,
	Plots: []lab.View{
		{
			Name: "rate", Title: "The rate, version by version", X: "version", By: "filter", Only: []any{ownName, lazyName, "counting", "deletable", "dynamic"},
			Y: lab.Axis{Label: "false positives", Percent: true}, Curves: []lab.Curve{{Measured: "rate"}},
		},
		{Name: "keys", Title: "Keys in the set", X: "version", Y: lab.Axis{Label: "keys"}, Curves: []lab.Curve{{Measured: "keys"}}},
	},
	Claims: append(historyClaims(), []lab.Claim{
		{Name: "no false negatives in the end", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "rate of evergreen", Printed: keeps, Where: comment, Of: lab.Of("rate", "filter", ownName), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "rate of compact evergreen", Printed: keeps, Where: comment, Of: lab.Of("rate", "filter", compactName), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "no refused adds by evergreen", Printed: "never full", Where: "docs/choosing.md", Of: lab.Of("adds refused", "filter", ownName), Is: lab.Zero(), Show: []lab.Pick{lab.Of("adds refused", "filter", "dleft")}},
		{Name: "no refused deletes by evergreen", Printed: "it deletes exactly", Where: comment, Of: lab.Of("deletes refused", "filter", ownName), Is: lab.Zero(), Show: []lab.Pick{lab.Of("deletes refused", "filter", "deletable")}},
		{Name: "no deleted key that Contains finds", Printed: exactly, Where: "design 4", Of: lab.Of("deleted keys found", "filter", ownName), Is: lab.Zero()},
		{Name: "no key that Keys gives wrongly or not", Printed: exactly, Where: "design 4", Of: lab.Of("wrong keys", "filter", ownName), Is: lab.Zero()},
		{Name: "no wrong Len", Printed: "Len counts", Where: comment, Of: lab.Of("wrong Len", "filter", ownName), Is: lab.Zero()},
		{
			Name: "no absent key that evergreen deletes", Printed: "a key whose fingerprint is not there is refused, exactly", Where: comment, Of: lab.Of("absent keys deleted", "filter", ownName), Is: lab.Zero(),
			Show: []lab.Pick{lab.Of("absent keys deleted", "filter", "counting"), lab.Of("absent keys deleted", "filter", "dleft"), lab.Of("absent keys deleted", "filter", "dynamic")},
		},
	}...),
}

// historyClaims are what the data say of themselves.
func historyClaims() (claims []lab.Claim) {
	for _, c := range [][2]string{{"versions", "198"}, {"additions", "339,230"}, {"deletions", "171,293"}, {"keys of the first version", "180,280"}, {"keys in the end", "167,937"}} {
		claims = append(claims, lab.Claim{Name: c[0], Printed: c[1], Where: "the data's own description", Of: lab.Of(c[0]), Is: lab.Rounds(), DataOnly: true})
	}
	return claims
}

// table tells what is in the history.
func (h history) table() *lab.Grid {
	number := func(name string, v int) lab.Formula {
		return lab.Formula{Name: name, Of: func(lab.At) float64 { return float64(v) }}
	}
	adds, deletes := h.count()
	return lab.Computed("history", "The history", nil, number("versions", len(h.versions)), number("additions", adds), number("deletions", deletes),
		number("keys of the first version", len(h.versions[0])), number("keys in the end", adds-deletes))
}

const compactName = "evergreen, 32 bits"

func replayParams(first, looks, queries int) lab.Params {
	return lab.Params{
		lab.Int("first keys", first), lab.Int("versions", 198), lab.Int("looks", looks), lab.Int("queries", queries), lab.Float("rate", 0.01),
	}
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
	{compactName, func(_ uint64, rate float64) (filter.Deleter, error) {
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
	{"dynamic", func(n uint64, rate float64) (filter.Deleter, error) {
		return dynamic.New(dynamic.Config{Items: n, FPR: rate})
	}},
}

// A visit is what a follower was like after a version. What is known in the end only is
// NaN before.
type visit struct {
	walk.Look
	refused, pinned, notFound, miscounted float64
	denied, revived, wrongKeys, strayed   float64
}

func runReplay(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	h, origin, err := openHistory(e)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(followers))
	for i, f := range followers {
		names[i] = f.name
	}
	at, every := []int{}, max(1, len(h.versions)/e.Int("looks"))
	for i := range h.versions {
		if i%every == 0 || i == len(h.versions)-1 {
			at = append(at, i)
		}
	}
	count := func(name string, of func(v visit) float64) lab.Metric[visit] {
		return lab.Metric[visit]{Name: name, Of: of}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[visit]{
		Name: "filters", Title: "Version by version", Dims: []lab.Dim{lab.Among("filter", names...)}, Trace: lab.Along("version", at...), Trials: 1,
		Follow: func(at2 lab.At, r *rand.Rand) ([]visit, error) {
			return followers[at2.Int("filter")].follow(ctx, h, at, walk.NewKeys(r), e.Float("rate"), e.Int("queries"))
		},
		Metrics: append(walk.MetricsOf(e.Int("queries"), func(v visit) walk.Look { return v.Look })[:4],
			count("keys", func(v visit) float64 { return float64(v.Keys) }),
			count("adds refused", func(v visit) float64 { return v.refused }),
			count("deletes refused", func(v visit) float64 { return v.pinned + v.notFound }),
			count("wrong Len", func(v visit) float64 { return v.miscounted }),
			count("false negatives", func(v visit) float64 { return v.denied }),
			count("deleted keys found", func(v visit) float64 { return v.revived }),
			count("wrong keys", func(v visit) float64 { return v.wrongKeys }),
			count("absent keys deleted", func(v visit) float64 { return v.strayed })),
		Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(lab.At) float64 { return e.Float("rate") }}},
	})
	return &lab.Result{Grids: []*lab.Grid{g, h.table()}, Notes: []string{
		origin,
		"No key is added that is there, none deleted that is not; in the end half as many absent keys as there are keys are asked to be deleted.",
		"Filters of fixed size, and elastic and dynamic, are made for the number of keys of the first version; evergreen is told nothing.",
	}}, err
}

func openHistory(e *lab.Env) (h history, origin string, err error) {
	if e.Data != "" {
		h, err = readHistory(filepath.Join(e.Data, historyFile))
		return h, "The history is that of a public list of addresses (bitwire-it/ipblocklist, January 2026).", err
	}
	return inventHistory(e.Rand(0), e.Int("first keys"), e.Int("versions")),
		"The history is invented: as many versions as the real one, with sizes of the same spread. With --data it is that of a public list of addresses (bitwire-it/ipblocklist, January 2026).", nil
}

// follow replays the history and looks at the filter at some versions.
func (w follower) follow(ctx context.Context, h history, at []int, k walk.Keys, rate float64, queries int) (visits []visit, err error) {
	f, err := w.make(uint64(len(h.versions[0])), rate)
	if err != nil {
		return nil, err
	}
	nan := math.NaN()
	v, set, refused := visit{denied: nan, revived: nan, wrongKeys: nan, strayed: nan}, map[filter.Key]bool{}, map[filter.Key]bool{}
	for i, version := range h.versions {
		for _, c := range version {
			if err := v.apply(f, c, set, refused); err != nil {
				return nil, fmt.Errorf("%s: version %d: %w", w.name, i, err)
			}
		}
		if len(visits) < len(at) && i == at[len(visits)] {
			v.look(f, len(set), k, i, queries)
			visits = append(visits, v)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	last := &visits[len(visits)-1]
	last.denied, last.revived, last.wrongKeys, last.strayed = 0, 0, 0, 0
	return visits, last.settle(f, set, refused, h, k)
}

// apply makes one change to the filter and to the exact set. A key that the filter
// refused is not asked to be deleted: that could harm others.
func (v *visit) apply(f filter.Deleter, c change, set, refused map[filter.Key]bool) error {
	if c.add {
		set[c.key] = true
		_, err := f.Add(c.key)
		if errors.Is(err, filter.ErrFull) {
			refused[c.key] = true
			v.refused++
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
		v.pinned++
	case errors.Is(err, filter.ErrNotFound):
		v.notFound++
	default:
		return err
	}
	return nil
}

// look asks about strangers that no other version asks about.
func (v *visit) look(f filter.Filter, keys int, k walk.Keys, version, queries int) {
	info, n, yes := f.Info(), float64(keys), 0
	for i := range queries {
		if f.MayContain(k.Stranger(version*queries + i)) {
			yes++
		}
	}
	v.Look = walk.Look{Keys: keys, Fast: float64(info.FastBits) / n, Slow: float64(info.SlowBits) / n, Yes: float64(yes) / float64(queries)}
	if f, ok := f.(interface{ Len() uint64 }); ok && f.Len() != uint64(keys) {
		v.miscounted++
	}
}

// settle compares with the exact set in the end.
func (v *visit) settle(f filter.Deleter, set, refused map[filter.Key]bool, h history, k walk.Keys) error {
	for key := range set {
		if !refused[key] && !f.MayContain(key) {
			v.denied++
		}
	}
	if own, ok := f.(*evergreen.Filter); ok {
		v.compareKeys(own, set, h)
	}
	for i := range len(set)/2 + 1 {
		err := f.Delete(k.Stranger(-1 - i))
		if err == nil {
			v.strayed++
		} else if !errors.Is(err, filter.ErrNotFound) && !errors.Is(err, filter.ErrPinned) {
			return err
		}
	}
	return nil
}

// compareKeys looks for what was deleted and did not come back, and takes the filter's
// own list of keys, which only whole keys allow.
func (v *visit) compareKeys(f *evergreen.Filter, set map[filter.Key]bool, h history) {
	for _, version := range h.versions {
		for _, c := range version {
			if !c.add && !set[c.key] && f.Contains(c.key) {
				v.revived++
			}
		}
	}
	if !f.Shape().Exact() {
		return
	}
	given := 0
	for key := range f.Keys() {
		given++
		if !set[key] {
			v.wrongKeys++
		}
	}
	v.wrongKeys += float64(max(0, len(set)-given))
}
