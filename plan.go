package everbloom

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// A Choice is one kind of filter, judged by given Needs.
type Choice struct {
	Kind   string `json:"kind"`
	Fits   bool   `json:"fits"`   // it keeps every promise of the Needs
	Weaker bool   `json:"weaker"` // it can do what is needed and promises less: New takes it only if it is named
	Why    string `json:"why"`    // why take it, what it does not promise, or why it cannot be taken

	// What it will be like with all its keys. If it is to grow, the cache lines are
	// those after it has grown tenfold.
	filter.Prediction

	excessive bool // it takes many times the memory of another that fits
}

// ErrNoKind is returned when no kind of filter can do what is needed.
var ErrNoKind = errors.New("no kind can")

// Plan judges all kinds of filter by the needs, whatever Kind names. The first is the
// one that [New] takes. Then come the others that fit, by the resource to spare; of
// these last the ones that take ten times the memory of the leanest; then those that
// promise less; then those that cannot do it. The error is about the Needs themselves;
// if none fits, it is ErrNoKind and the choices say why.
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
	markExcess(choices)
	slices.SortStableFunc(choices, func(a, b Choice) int { return compare(a, b, n.Spare) })
	if !choices[0].Fits {
		return choices, fault.In("everbloom", "%w %s", ErrNoKind, n.verbs())
	}
	moveToFront(choices, n.preferred())
	return choices, nil
}

// moveToFront puts the first of the named choices that fits before all others.
func moveToFront(choices []Choice, names []string) {
	for _, name := range names {
		for i, c := range choices {
			if c.Kind == name && c.Fits {
				copy(choices[1:], choices[:i])
				choices[0] = c
				return
			}
		}
	}
}

// preferred names the kinds that New tries, the first one first.
func (n Needs) preferred() []string {
	switch {
	case n.KnownDeletes:
		return []string{"perennial", "evergreen", "elastic"}
	case n.Delete, n.SlowFile != "":
		return []string{"evergreen", "elastic"}
	case n.Grow && n.Merge:
		return []string{"evergreen", "partition", "elastic"}
	case n.Grow && n.Spare == TotalMemory:
		return []string{"scalable", "evergreen", "partition"}
	case n.Grow:
		return []string{"evergreen", "scalable", "partition"}
	case n.Spare == Time:
		return []string{"blocked", "bloom"}
	}
	return []string{"bloom", "blocked"}
}

// An ability is something that Needs may ask for.
type ability struct {
	verb  string
	asked bool
	has   func(kinds.Kind) bool
}

// abilities lists all, with those that n asks for.
func (n Needs) abilities() [4]ability {
	return [4]ability{
		{"delete", n.Delete, func(k kinds.Kind) bool { return k.Abilities().Delete }},
		{"grow", n.Grow, func(k kinds.Kind) bool { return k.Grows }},
		{"merge", n.Merge, func(k kinds.Kind) bool { return k.Abilities().Merge }},
		{"keep slow memory in a file", n.SlowFile != "", kinds.Kind.HasSlowFile},
	}
}

// missing names what n asks for and k cannot do.
func (n Needs) missing(k kinds.Kind) (verbs []string) {
	for _, a := range n.abilities() {
		if a.asked && !a.has(k) {
			verbs = append(verbs, a.verb)
		}
	}
	return verbs
}

// broken names the promises of n that k, which can do what is needed, does not keep.
func (n Needs) broken(k kinds.Kind) []string {
	var broken []string
	if n.Delete && !n.KnownDeletes && k.Duplicates == filter.DuplicatesCounted {
		broken = append(broken, "a key that was added twice must be deleted twice")
	}
	if n.Delete && (k.Pins || k.Duplicates == filter.DuplicatesPin) {
		broken = append(broken, "some keys cannot be deleted")
	}
	if n.Delete && !n.KnownDeletes && k.Duplicates != filter.DuplicatesIgnored {
		broken = append(broken, "deleting an absent key: "+k.AbsentDelete)
	}
	if n.Delete && !k.Grows {
		broken = append(broken, "more keys than asked for: "+k.PastCapacity)
	}
	if n.Grow && k.Drifts {
		broken = append(broken, "the rate rises as it grows")
	}
	if n.Merge && k.UnionOnly {
		broken = append(broken, "it cannot intersect")
	}
	return broken
}

// judge predicts what k would be like and says why or why not.
func judge(k kinds.Kind, n Needs) Choice {
	c := Choice{Kind: k.Name}
	p, err := n.predict(k)
	missing, broken := n.missing(k), n.broken(k)
	switch {
	case len(missing) > 0:
		c.Why = fmt.Sprintf("cannot %s", strings.Join(missing, " or "))
	case err != nil:
		c.Why = fmt.Sprintf("cannot be made: %v", err)
	case len(broken) > 0:
		c.Weaker = true
		c.Why = fmt.Sprintf("only if it is named: %s; %s", strings.Join(broken, "; "), k.Strength)
	default:
		c.Fits = true
		c.Why = fmt.Sprintf("%s; %s", k.Strength, k.Weakness)
		if n.Merge {
			c.Why += "; merging: " + k.Merging
		}
	}
	c.Prediction = p
	if n.Grow && (c.Fits || c.Weaker) {
		if after, err := k.Predict(n.config(), grown*n.itemsPerShard()); err == nil {
			c.HitLines, c.MissLines = after.HitLines, after.MissLines
		}
	}
	return c
}

// grown is how many times its first number of keys a set that grows is judged with.
const grown = 10

// excess is how many times the memory of the leanest kind speaks against one, however
// quick it is.
const excess = 10

// markExcess finds the excessive memory of those that fit.
func markExcess(choices []Choice) {
	least := math.Inf(1)
	for _, c := range choices {
		if c.Fits {
			least = min(least, c.totalBits())
		}
	}
	for i := range choices {
		c := &choices[i]
		c.excessive = c.Fits && c.totalBits() > excess*least
	}
}

func (c *Choice) totalBits() float64 { return c.FastBitsPerKey + c.SlowBitsPerKey }

// predict says what a set of kind k will be like with all its keys.
func (n Needs) predict(k kinds.Kind) (filter.Prediction, error) {
	config := n.config()
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

// verbs says in words what n asks for.
func (n Needs) verbs() string {
	var verbs []string
	for _, a := range n.abilities() {
		if a.asked {
			verbs = append(verbs, a.verb)
		}
	}
	verbs = append(verbs, fmt.Sprintf("hold %d keys at a rate of %g", n.Items, n.FPR))
	return strings.Join(verbs, " and ")
}

// compare orders choices: those that fit first, without excess first, then those that
// promise less; then by the resource to spare, then by the other resources.
func compare(a, b Choice, spare Resource) int {
	if order := cmp.Or(trueFirst(a.Fits, b.Fits), trueFirst(b.excessive, a.excessive), trueFirst(a.Weaker, b.Weaker)); order != 0 {
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

// firstChoices returns the preferred kinds that the table has and that keep all
// promises of n.
func (n Needs) firstChoices(table []kinds.Kind) (found []kinds.Kind) {
	for _, name := range n.preferred() {
		for _, k := range table {
			if k.Name == name && len(n.missing(k)) == 0 && len(n.broken(k)) == 0 {
				found = append(found, k)
			}
		}
	}
	return found
}

// named returns the kind that n names, if it is able to do what is needed.
func (n Needs) named(table []kinds.Kind) (kinds.Kind, error) {
	var names []string
	for _, k := range table {
		if k.Name != n.Kind {
			names = append(names, k.Name)
			continue
		}
		if missing := n.missing(k); len(missing) > 0 {
			return k, fault.Unsupported("everbloom", k.Name, strings.Join(missing, " or "))
		}
		return k, nil
	}
	return kinds.Kind{}, fault.In("everbloom", "Kind: %q is unknown: take %s", n.Kind, strings.Join(names, ", "))
}
