package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
)

// plan judges the kinds of filter by what a set has to do.
type plan struct {
	*env
	needs
	all, json bool
	plot      string
}

func newPlan(e *env) *cobra.Command {
	p := &plan{env: e}
	cmd := &cobra.Command{
		Use:     "plan",
		GroupID: groupChoose,
		Short:   "Show which kind of filter to take, and what it costs",
		Long: `Show which kind of filter everbloom build takes for the given needs and why,
what it will be like with all its keys, and what others would cost.

Fast memory is what queries read, slow memory what only changes touch. Lines are
cache lines read by a query for a key that is present (hit) or absent (miss);
fewer are faster. With --grow they are those after the set has grown tenfold.
Kinds that fit keep every promise; those that are weaker promise less and are
taken only if build is given their name with --kind.

The exit status is 2 if no kind fits.`,
		Example: `  everbloom plan --items 1M --fpr 1%
  everbloom plan --items 250k --fpr 0.1% --delete
  everbloom plan --items 1M --fpr 1% --delete --known-deletes --grow
  everbloom plan --items 10M --merge --spare total --all
  everbloom plan --items 1M --fpr 1% --plot plan.svg`,
		Args: noArguments("say what is needed with flags, such as --items 1M"),
		RunE: verb(p.run),
	}
	p.sizeFlags(cmd, "(default 1000000)")
	p.needFlags(cmd)
	cmd.Flags().BoolVar(&p.all, "all", false, "show all kinds, not only the first five")
	cmd.Flags().BoolVar(&p.json, "json", false, "print all kinds as a JSON array")
	cmd.Flags().StringVar(&p.plot, "plot", "", "draw rate and memory of up to five kinds over the number of keys into `FILE`.svg or .png")
	return cmd
}

// run prints the table also if nothing fits: it says what each kind lacks.
func (p *plan) run(context.Context, []string) error {
	choices, err := everbloom.Plan(p.Needs)
	if err != nil && !errors.Is(err, everbloom.ErrNoKind) {
		return err
	}
	if err := p.print(choices); err != nil {
		return err
	}
	if p.plot != "" {
		if err := p.draw(choices); err != nil {
			return err
		}
	}
	return err // no kind fits
}

// items and rate are the defaults of [everbloom.Needs] if none was given.

func (p *plan) items() uint64 { return cmp.Or(p.Items, 1_000_000) }
func (p *plan) rate() float64 { return cmp.Or(p.FPR, 0.001) }

// few is how many kinds are shown unless all are asked for.
const few = 5

// first returns the choices worth showing: a few that can do what is needed, the smallest
// of those that fit among them, or of all if none can.
func first(choices []everbloom.Choice) []everbloom.Choice {
	able := 0
	for _, c := range choices {
		if c.Fits || c.Weaker {
			able++
		}
	}
	shown := slices.Clone(choices[:min(few, len(choices), cmp.Or(able, few))])
	if least := smallest(choices); least >= len(shown) {
		shown[len(shown)-1] = choices[least]
	}
	return shown
}

// smallest returns the index of the choice that fits in the least memory, -1 if none does.
func smallest(choices []everbloom.Choice) int {
	least := -1
	for i, c := range choices {
		if c.Fits && (least < 0 || totalBits(c) < totalBits(choices[least])) {
			least = i
		}
	}
	return least
}
