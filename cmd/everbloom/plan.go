package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/figure"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
)

// plan judges the kinds of filter by what a set has to do.
type plan struct {
	*env
	wish
	json bool
	plot string
}

func newPlan(e *env) *cobra.Command {
	p := &plan{env: e}
	cmd := &cobra.Command{
		Use:     "plan",
		GroupID: groupChoose,
		Short:   "Show which kinds of filter would do, best first",
		Long: `Plan shows what each kind of filter would be like for the given number of keys
and rate: first the kinds that can do what is needed, the best first, then the
others and what they lack. Fast memory is what queries read, slow memory what
only changes touch. Lines are cache lines read by a query for a key that is
present (hit) or absent (miss): the fewer, the faster.

The exit status is 2 if no kind would do.`,
		Example: `  everbloom plan --items 1e6 --fpr 0.01
  everbloom plan --items 250k --fpr 0.1% --delete --grow
  everbloom plan --items 10M --merge --spare total --json
  everbloom plan --items 1M --fpr 1% --plot plan.svg`,
		Args: cobra.NoArgs,
		RunE: verb(p.run),
	}
	p.sizeFlags(cmd, "(default 1000000)")
	p.needFlags(cmd)
	cmd.Flags().BoolVar(&p.json, "json", false, "print a JSON array")
	cmd.Flags().StringVar(&p.plot, "plot", "", "draw rate and memory over the number of keys into `FILE`.svg or .png")
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
	return err // no kind would do
}

// items and rate are those that Plan takes if nobody says.

func (p *plan) items() uint64 { return cmp.Or(p.Items, 1_000_000) }
func (p *plan) rate() float64 { return cmp.Or(p.FPR, 0.001) }

// print shows a table that fits 80 columns, with the reasons below it.
func (p *plan) print(choices []everbloom.Choice) error {
	if p.json {
		return printJSON(p.stdout, choices)
	}
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(t, "%s at a rate of %s\n\n", quantity.Keys(p.items()), quantity.Rate(p.rate())) // Flush reports
	_, _ = fmt.Fprintln(t, "fits\tkind\tsize\tfast\tslow\trate\thit\tmiss")
	_, _ = fmt.Fprintln(t, "\t\t\tbits/key\tbits/key\t\tlines\tlines")
	for _, c := range choices {
		_, _ = fmt.Fprintln(t, p.row(c))
	}
	_, _ = fmt.Fprintln(t)
	for _, c := range choices {
		_, _ = fmt.Fprintf(t, "%s: %s\n", c.Kind, c.Why)
	}
	return t.Flush()
}

// row shows one choice; of a filter that cannot be made there is nothing to say.
func (p *plan) row(c everbloom.Choice) string {
	fits := "no"
	if c.Fits {
		fits = "yes"
	}
	bits := c.FastBitsPerKey + c.SlowBitsPerKey
	if bits == 0 {
		return fmt.Sprintf("%s\t%s\t–\t–\t–\t–\t–\t–", fits, c.Kind)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%.2f\t%.2f\t%s\t%.1f\t%.1f", fits, c.Kind, quantity.Bytes(bits*float64(p.items())/8),
		c.FastBitsPerKey, c.SlowBitsPerKey, quantity.Rate(c.FPR), c.HitLines, c.MissLines)
}

// draw draws the kinds that fit, or all that can be made if none does.
func (p *plan) draw(choices []everbloom.Choice) error {
	var curves []figure.Curve
	for _, c := range choices {
		if !c.Fits && choices[0].Fits || c.FastBitsPerKey+c.SlowBitsPerKey == 0 {
			continue
		}
		for _, k := range p.kinds {
			if k.Name == c.Kind {
				curves = append(curves, figure.Curve{Name: k.Name, Predict: k.Predict})
			}
		}
	}
	if len(curves) == 0 {
		return nil // the table says why
	}
	if err := figure.Draw(p.plot, p.items(), p.rate(), curves); err != nil {
		return unwritable(p.plot, err)
	}
	return nil
}
