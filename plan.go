package everbloom

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter/kinds"
)

// A Choice is one kind of filter, judged by given Needs.
type Choice struct {
	Kind string `json:"kind"`
	Fits bool   `json:"fits"` // it can do everything that is needed
	Why  string `json:"why"`  // one sentence: why take it, or why not

	// What it will be like with all its keys. If it is to grow, the cache lines are
	// those after it has grown tenfold.
	kinds.Prediction

	spoilt int // what speaks against it: how many needs it meets only in part, and excessive memory
}

// ErrNoKind is returned when no kind of filter can do what is needed.
var ErrNoKind = errors.New("no kind can")

// Plan judges all kinds of filter by the needs: first those that fit, the best
// first, then the others. The error is about the Needs themselves; if none fits,
// it is ErrNoKind and the choices say why.
func Plan(n Needs) ([]Choice, error) { return plan(kinds.All(), n) }

func plan(table []kinds.Kind, n Needs) ([]Choice, error) {
	n, err := n.withDefaults()
	if err != nil {
		return nil, err
	}
	choices := make([]Choice, 0, len(table))
	for _, k := range table {
		choices = append(choices, judge(k, n))
	}
	spoilByExcess(choices)
	slices.SortStableFunc(choices, func(a, b Choice) int { return compare(a, b, n.Spare) })
	if !choices[0].Fits {
		return choices, fmt.Errorf("everbloom: %w %s", ErrNoKind, n.wish())
	}
	return choices, nil
}

// judge predicts what k would be like and says why or why not.
func judge(k kinds.Kind, n Needs) Choice {
	c := Choice{Kind: k.Name, spoilt: n.spoilt(k)}
	p, err := n.predict(k)
	switch lacks := n.lacks(k); {
	case len(lacks) > 0:
		c.Why = fmt.Sprintf("cannot %s", strings.Join(lacks, " or "))
	case err != nil:
		c.Why = fmt.Sprintf("cannot be made: %v", err)
	default:
		c.Fits = true
		c.Why = fmt.Sprintf("%s; %s", k.Strength, k.Weakness)
		if n.Delete {
			c.Why += "; deleting an absent key: " + k.AbsentDelete
		}
		if n.Merge {
			c.Why += "; merging: " + k.Merging
		}
	}
	c.Prediction = p
	if c.Fits && n.Grow {
		c.HitLines, c.MissLines = n.linesWhenGrown(k, p)
	}
	return c
}

// grown is how many times its first number of keys a set that grows is judged with.
const grown = 10

// linesWhenGrown returns the cache lines of a hit and of a miss after growth, or
// those of before if nobody can tell.
func (n Needs) linesWhenGrown(k kinds.Kind, before kinds.Prediction) (hit, miss float64) {
	after, err := k.Predict(kinds.Config{Items: n.itemsPerShard(), FPR: n.FPR}, grown*n.itemsPerShard())
	if err != nil {
		return before.HitLines, before.MissLines
	}
	return after.HitLines, after.MissLines
}

// spoilt counts what k does only in part: some keys that are to be deleted will be
// pinned, the rate will not hold when the set grows, or it cannot be intersected.
func (n Needs) spoilt(k kinds.Kind) (count int) {
	if n.Delete && k.Pins {
		count++
	}
	if n.Grow && k.Drifts {
		count++
	}
	if n.Merge && k.UnionOnly {
		count++
	}
	return count
}

// excess is how many times the memory of the leanest kind speaks against one, however
// quick it is.
const excess = 10

// spoilByExcess counts excessive memory against those that fit.
func spoilByExcess(choices []Choice) {
	least := math.Inf(1)
	for _, c := range choices {
		if c.Fits {
			least = min(least, c.totalBits())
		}
	}
	for i := range choices {
		if c := &choices[i]; c.Fits && c.totalBits() > excess*least {
			c.spoilt++
		}
	}
}

func (c *Choice) totalBits() float64 { return c.FastBitsPerKey + c.SlowBitsPerKey }

// predict says what a set of kind k will be like with all its keys.
func (n Needs) predict(k kinds.Kind) (kinds.Prediction, error) {
	config := kinds.Config{Items: n.itemsPerShard(), FPR: n.FPR}
	if n.Shards == 1 {
		return k.Predict(config, n.Items)
	}
	share := float64(n.Items) / float64(n.Shards)
	p, err := k.Predict(config, max(1, uint64(math.Round(share))))
	if err != nil {
		return p, err
	}
	rounding := max(1, math.Round(share)) / share
	p.FastBitsPerKey *= rounding
	p.SlowBitsPerKey *= rounding
	p.FPR, err = meanRate(k, config, share)
	return p, err
}

// meanRate averages the rate over shards whose numbers of keys scatter around
// mean, as the square root of it: by three points and weights that are exact for
// the first moments.
func meanRate(k kinds.Kind, c kinds.Config, mean float64) (rate float64, err error) {
	far := math.Sqrt(3 * mean)
	for _, point := range []struct{ keys, weight float64 }{{mean - far, 1.0 / 6}, {mean, 2.0 / 3}, {mean + far, 1.0 / 6}} {
		p, err := k.Predict(c, uint64(math.Round(max(0, point.keys))))
		if err != nil {
			return 0, err
		}
		rate += point.weight * p.FPR
	}
	return rate, nil
}

// wish says in words what n asks for.
func (n Needs) wish() string {
	var verbs []string
	for _, w := range []struct {
		asked bool
		verb  string
	}{{n.Delete, "delete"}, {n.Grow, "grow"}, {n.Merge, "merge"}} {
		if w.asked {
			verbs = append(verbs, w.verb)
		}
	}
	if len(verbs) == 0 {
		return fmt.Sprintf("hold %d keys at a rate of %g", n.Items, n.FPR)
	}
	return strings.Join(verbs, " and ")
}

// compare orders choices: those that fit first, of those the ones that meet all
// needs in full; then by what is to be spared, then by the other resources.
func compare(a, b Choice, spare Resource) int {
	if order := cmp.Or(trueFirst(a.Fits, b.Fits), cmp.Compare(a.spoilt, b.spoilt)); order != 0 {
		return order
	}
	lines := cmp.Compare(a.HitLines+a.MissLines, b.HitLines+b.MissLines)
	fast := cmp.Compare(a.FastBitsPerKey, b.FastBitsPerKey)
	total := cmp.Compare(a.totalBits(), b.totalBits())
	switch spare {
	case FastMemory:
		return cmp.Or(fast, lines, total)
	case TotalMemory:
		return cmp.Or(total, lines)
	default:
		return cmp.Or(lines, total)
	}
}

func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// choose returns the kind to build for n.
func choose(table []kinds.Kind, n Needs) (kinds.Kind, error) {
	if n.Kind != "" {
		_, err := n.withDefaults()
		k, errKind := n.named(table)
		return k, errors.Join(err, errKind)
	}
	choices, err := plan(table, n)
	if err != nil {
		return kinds.Kind{}, err
	}
	n.Kind = choices[0].Kind
	return n.named(table)
}

// named returns the kind that n names, if it is able to do what is needed.
func (n Needs) named(table []kinds.Kind) (kinds.Kind, error) {
	var names []string
	for _, k := range table {
		if k.Name != n.Kind {
			names = append(names, k.Name)
			continue
		}
		if lacks := n.lacks(k); len(lacks) > 0 {
			return k, fmt.Errorf("everbloom: kind %s cannot %s: %w", k.Name, strings.Join(lacks, " or "), errors.ErrUnsupported)
		}
		return k, nil
	}
	return kinds.Kind{}, fmt.Errorf("everbloom: Kind: %q is unknown: take %s", n.Kind, strings.Join(names, ", "))
}
