package field

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var abilities = lab.Experiment{
	ID:       "all/abilities",
	Title:    "What each kind does, tried",
	Question: "Does every kind behave as the table of kinds says: when it gets more keys than it was made for, when keys are deleted, added twice, and deleted without being there?",
	Says:     "docs/choosing.md: what each kind does; all that delete but evergreen and elastic must be asked to delete only keys that were added.",
	Params:   lab.Params{lab.Int("keys", 5_000).Full(100_000), lab.Int("queries", 20_000).Full(1_000_000)},
	Run:      runAbilities,
	Claims: []lab.Claim{
		{Name: "grows, and past capacity", Printed: "what the table of kinds says", Where: page, Of: lab.Of("not as said: past capacity"), Is: lab.Zero()},
		{Name: "delete", Printed: "what the table of kinds says", Where: page, Of: lab.Of("not as said: delete"), Is: lab.Zero()},
		{Name: "adding twice", Printed: "what the table of kinds says", Where: page, Of: lab.Of("not as said: adding twice"), Is: lab.Zero()},
		{Name: "deleting an absent key", Printed: "what the table of kinds says", Where: page, Of: lab.Of("not as said: deleting an absent key"), Is: lab.Zero()},
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
	},
}

// conduct is what a kind did. Shares, of kinds that do not delete NaN.
type conduct struct {
	kind             kinds.Kind
	queries          int
	refused, yes     float64 // with eight times the keys that it was made for
	overfull         bool
	pinned, notFound float64 // when half of the keys are deleted
	stuck, gone      float64 // pinned, and gone, when keys are deleted once that were added twice
	absent, lost     float64 // absent keys that can be deleted, and present ones that are denied then
	denied           float64 // present keys, before that
}

// most is how many yeses the asked rate allows, as a share.
func (c conduct) most() float64 {
	_, most := theory.BinomialInterval(float64(c.queries), rate, lab.Sigmas)
	return most / float64(c.queries)
}

func (c conduct) pastCapacity() bool {
	held := c.yes <= c.most()
	switch k := c.kind; {
	case k.Grows:
		return c.refused == 0 && held == !k.Drifts
	case strings.HasPrefix(k.PastCapacity, "refuses"):
		return c.refused > 0
	}
	return c.refused == 0 && !held && c.overfull
}

func (c conduct) deletes() bool { return c.notFound == 0 && (c.pinned > 0) == c.kind.Pins }

func (c conduct) twice() bool {
	switch c.kind.Duplicates {
	case filter.DuplicatesIgnored:
		return c.gone == 1 && c.stuck == 0
	case filter.DuplicatesCounted:
		return c.gone == 0 && c.stuck == 0
	}
	return c.gone == 0 && c.stuck == 1
}

// absently: every absent key that can be deleted was a false positive.
func (c conduct) absently() bool {
	if c.kind.AbsentDelete == "refused" {
		return c.absent == 0 && c.lost == 0
	}
	return c.absent > 0 && c.absent <= c.most()
}

func (c conduct) figures() lab.Figures {
	unlike := func(asSaid bool) float64 { return lab.OneIf(!asSaid && c.kind.Abilities().Delete) }
	return lab.Figures{
		"refused past capacity": c.refused, "rate past capacity": c.yes, "pinned": c.pinned, "not found": c.notFound,
		"added twice, deleted once: pinned": c.stuck, "added twice, deleted once: gone": c.gone, "absent keys deleted": c.absent, "absent keys deleted: present keys denied": c.lost,
		"false negatives": c.denied, "not as said: past capacity": lab.OneIf(!c.pastCapacity()), "not as said: delete": unlike(c.deletes()),
		"not as said: adding twice": unlike(c.twice()), "not as said: deleting an absent key": unlike(c.absently()),
	}
}

func runAbilities(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	all := kinds.All()
	return lab.Find(ctx, e, lab.Sweep{
		Name: "conduct", Title: "What happened", Dims: []lab.Dim{kindDim(all)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			c, err := try(all[at.Int("kind")], e.Int("keys"), e.Int("queries"), walk.NewKeys(r))
			return c.figures(), err
		},
		Metrics: []lab.Metric{
			{Name: "refused past capacity", Unit: lab.InPercent},
			{Name: "rate past capacity", Unit: lab.InPercent},
			{Name: "pinned", Unit: lab.InPercent},
			{Name: "not found", Unit: lab.InPercent},
			{Name: "added twice, deleted once: pinned", Unit: lab.InPercent},
			{Name: "added twice, deleted once: gone", Unit: lab.InPercent},
			{Name: "absent keys deleted", Unit: lab.InPercent},
			{Name: "absent keys deleted: present keys denied", Unit: lab.InPercent},
			{Name: "false negatives"},
			{Name: "not as said: past capacity"},
			{Name: "not as said: delete"},
			{Name: "not as said: adding twice"},
			{Name: "not as said: deleting an absent key"},
		},
	}, lab.Notes{
		"Asked for 1 %. Past capacity: eight times the keys that the filter was made for. Half of the keys are deleted, of kinds that grow after they have grown to four times. " +
			"As many absent keys as there are queries are then asked to be deleted from a full filter.",
	})
}

// try tries all conduct of a kind.
func try(k kinds.Kind, n, queries int, keys walk.Keys) (c conduct, err error) {
	nan := math.NaN()
	c = conduct{kind: k, queries: queries, pinned: nan, notFound: nan, stuck: nan, gone: nan, absent: nan, lost: nan}
	s, err := newSubject(k.Name, n, rate, keys)
	if err == nil {
		err = s.add(8 * n)
	}
	if err != nil {
		return c, err
	}
	c.refused, c.yes, c.overfull, c.denied = float64(s.refused)/float64(8*n), s.yes(queries), s.Info().Overfull, s.denied()
	if !k.Abilities().Delete {
		return c, nil
	}
	return c, errors.Join(c.tryDelete(n, keys), c.tryTwice(n, keys), c.tryAbsent(n, keys))
}

func (c *conduct) tryDelete(n int, keys walk.Keys) error {
	s, err := newSubject(c.kind.Name, n, rate, keys)
	if err != nil {
		return err
	}
	if c.kind.Grows {
		n *= 4
	}
	err = errors.Join(s.add(n), s.delete(n/2))
	c.pinned, c.notFound = float64(s.pinned)/float64(n/2), float64(s.notFound)/float64(n/2)
	c.denied += s.denied()
	return err
}

func (c *conduct) tryTwice(n int, keys walk.Keys) error {
	s, err := newSubject(c.kind.Name, 2*n, rate, keys)
	if err != nil {
		return err
	}
	err = s.add(n)
	s.next = 0
	err = errors.Join(err, s.add(n), s.delete(n))
	s.first = 0
	c.stuck, c.gone = float64(s.pinned)/float64(n), s.denied()/float64(n)
	return err
}

// tryAbsent deletes absent keys. A pinned one is a false positive, too.
func (c *conduct) tryAbsent(n int, keys walk.Keys) error {
	s, err := newSubject(c.kind.Name, n, rate, keys)
	if err != nil {
		return err
	}
	err = s.add(n)
	c.absent = 0
	for i := 0; i < c.queries && err == nil; i++ {
		var done bool
		done, err = s.remove(keys.Absent(i))
		c.absent += lab.OneIf(done) / float64(c.queries)
	}
	c.lost = s.denied() / float64(n)
	return err
}
