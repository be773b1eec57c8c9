package everbloom

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter/kinds"
)

// A Choice is one kind of filter, judged by given Needs.
type Choice struct {
	Kind string `json:"kind"`
	Fits bool   `json:"fits"` // it can do everything that is needed
	Why  string `json:"why"`  // one sentence: why take it, or why not

	// What it will be like with all its keys.
	kinds.Prediction
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
	slices.SortStableFunc(choices, func(a, b Choice) int { return compare(a, b, n.Spare) })
	if !choices[0].Fits {
		return choices, fmt.Errorf("everbloom: %w %s", ErrNoKind, n.wish())
	}
	return choices, nil
}

// judge predicts what k would be like and says why or why not.
func judge(k kinds.Kind, n Needs) Choice {
	c := Choice{Kind: k.Name}
	p, err := k.Predict(kinds.Config{Items: n.Items, FPR: n.FPR}, n.Items)
	switch lacks := n.lacks(k); {
	case len(lacks) > 0:
		c.Why = fmt.Sprintf("cannot %s", strings.Join(lacks, " or "))
	case err != nil:
		c.Why = fmt.Sprintf("cannot be made: %v", err)
	default:
		c.Fits = true
		c.Why = fmt.Sprintf("%s; %s", k.Strength, k.Weakness)
	}
	c.Prediction = p
	return c
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

// compare orders choices: those that fit first, then by what is to be spared,
// then by the other resources.
func compare(a, b Choice, spare Resource) int {
	if a.Fits != b.Fits {
		if a.Fits {
			return -1
		}
		return 1
	}
	lines := cmp.Compare(a.HitLines+a.MissLines, b.HitLines+b.MissLines)
	fast := cmp.Compare(a.FastBitsPerKey, b.FastBitsPerKey)
	total := cmp.Compare(a.FastBitsPerKey+a.SlowBitsPerKey, b.FastBitsPerKey+b.SlowBitsPerKey)
	switch spare {
	case FastMemory:
		return cmp.Or(fast, lines, total)
	case TotalMemory:
		return cmp.Or(total, lines)
	default:
		return cmp.Or(lines, total)
	}
}

// choose returns the kind to build for n.
func choose(table []kinds.Kind, n Needs) (kinds.Kind, error) {
	choices, err := plan(table, n)
	if err != nil && !(errors.Is(err, ErrNoKind) && n.Kind != "") {
		return kinds.Kind{}, err
	}
	name := cmp.Or(n.Kind, choices[0].Kind)
	i := slices.IndexFunc(table, func(k kinds.Kind) bool { return k.Name == name })
	if i < 0 {
		_, err := kinds.ByName(name)
		return kinds.Kind{}, err
	}
	if lacks := n.lacks(table[i]); len(lacks) > 0 {
		return kinds.Kind{}, fmt.Errorf("everbloom: kind %s cannot %s: %w", name, strings.Join(lacks, " or "), errors.ErrUnsupported)
	}
	return table[i], nil
}
