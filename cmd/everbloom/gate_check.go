package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// gateCheck compares a gate with an exact one.
type gateCheck struct {
	*env
	gateFlags
	gateInput
	gateOutput
	trafficFlags
	seeds int
}

func newGateCheck(e *env) *cobra.Command {
	g := &gateCheck{env: e}
	cmd := &cobra.Command{
		Use:   "check [INPUT...]",
		Short: "Compare with an exact gate and count every mistake",
		Long: `Check judges packets twice, by the gate and by one that keeps everything
exactly, and tells where they differ: false positives, packets wrongly passed
and why, bans that are missing, late or spurious, answers to queries, and for
each set the rate measured and predicted.

INPUTs are those of everbloom gate run; - is the standard input. Without any it
generates packets, as everbloom gate generate does, for as many seeds as asked
for, from --seed on.

If an input is damaged, what was read before counts, and the exit status is 2.

Otherwise it is 1 if a packet passed that should have been rejected.`,
		Example: `  everbloom gate check --patterns bad.txt --blacklist ips.txt capture.pcap
  everbloom gate check --users 200k --packets 5M --blacklisted 50k --seeds 20
  everbloom gate check --kind deletable --bits 32 --json`,
		Args: g.refuse,
		RunE: verb(g.run),
	}
	g.makeFlags(cmd)
	g.fileFlags(cmd)
	g.inputFlags(cmd)
	g.outputFlags(cmd)
	g.trafficFlags.trafficFlags(cmd, "10000", "1000000")
	cmd.Flags().IntVar(&g.seeds, "seeds", 1, "generate traffic for `N` seeds, and show means and intervals")
	return cmd
}

// refuse refuses flags that would be of no effect.
func (g *gateCheck) refuse(cmd *cobra.Command, args []string) error {
	var idle []string
	reason := "without an INPUT: name a file, or - for the standard input"
	switch {
	case len(args) > 0:
		reason = "with an INPUT: it is for generated packets"
		idle = []string{"packets", "evil", "blacklisted", "pattern-count", "skew", "addresses", "seeds"}
	default:
		idle = []string{"patterns", "blacklist", "whitelist", "format", "reassemble", "inner"}
	}
	for _, name := range idle {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: of no effect %s", name, reason)
		}
	}
	for _, name := range []string{"html", "quiet"} {
		if g.seeds > 1 && cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s: not together with --seeds above 1", name)
		}
	}
	return nil
}

func (g *gateCheck) run(ctx context.Context, args []string) error {
	if g.seeds < 1 {
		return fmt.Errorf("--seeds: %d must be at least 1", g.seeds)
	}
	if err := g.checkValues(); err != nil {
		return err
	}
	defer g.abandon()
	if len(args) > 0 {
		return g.checkInputs(ctx, args)
	}
	if g.seeds == 1 {
		s, err := g.checkSeed(ctx, g.Seed)
		return g.conclude(s, err)
	}
	var all []gatereport.Summary
	for i := range g.seeds {
		s, err := g.checkSeed(ctx, g.Seed+uint64(i))
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	return g.compare(all)
}

func (g *gateCheck) checkInputs(ctx context.Context, args []string) error {
	if err := g.read(); err != nil {
		return err
	}
	g.gateFlags.Users = g.users
	s, err := newGateSession(g.env, &g.gateFlags, nil, true)
	if err != nil {
		return err
	}
	if err := g.openPage(g.env); err != nil {
		return err
	}
	err = g.readInputs(ctx, s, &g.gateInput, args, g.quiet)
	g.warn(s, &g.gateFlags)
	return g.conclude(s.summary(args, g.Seed), err)
}

// conclude tells, after what came of reading, and lets the exit status say whether a
// packet passed that should not have.
func (g *gateCheck) conclude(s gatereport.Summary, err error) error {
	if s.Check == nil {
		return err // nothing was judged
	}
	if err := errors.Join(stopped(err), g.tell(g.stdout, s)); err != nil {
		return err
	}
	return verdictOn(s)
}

// verdictOn is errNone if a packet passed that should have been rejected.
func verdictOn(all ...gatereport.Summary) error {
	for _, s := range all {
		if s.Check.WronglyPassed() > 0 {
			return errNone
		}
	}
	return nil
}

// checkSeed judges the traffic of one seed.
func (g *gateCheck) checkSeed(ctx context.Context, seed uint64) (gatereport.Summary, error) {
	t := g.trafficFlags
	t.Seed = seed
	made, err := t.generator()
	if err != nil {
		return gatereport.Summary{}, err
	}
	flags := g.gateFlags
	if err := t.expect(&flags, made); err != nil {
		return gatereport.Summary{}, err
	}
	s, err := newGateSession(g.env, &flags, nil, true)
	if err != nil {
		return gatereport.Summary{}, err
	}
	if err := g.openPage(g.env); err != nil {
		return gatereport.Summary{}, err
	}
	bar := g.progress(g.quiet, func() terminal.State {
		return terminal.State{Label: fmt.Sprintf("seed %d", seed), Done: int64(s.packets.Load()), Total: int64(t.count), Keys: s.packets.Load()}
	})
	defer bar.Stop()
	err = s.read(ctx, made)
	if seed == g.Seed { // once
		g.warn(s, &flags)
	}
	return s.summary([]string{fmt.Sprintf("seed %d", seed)}, seed), err
}

// A compared is something that is shown over seeds.
type compared struct {
	name string
	of   func(r *exact.Report) float64
	show func(float64) string
}

var figures = []compared{
	{"packets wrongly passed", func(r *exact.Report) float64 { return float64(r.WronglyPassed()) }, quantity.Short},
	{"false positives", func(r *exact.Report) float64 { return float64(r.WronglyRejected()) }, quantity.Short},
	{"false positives predicted", func(r *exact.Report) float64 { return r.Expected }, quantity.Short},
	{"share of packets", func(r *exact.Report) float64 { return float64(r.WronglyRejected()) / float64(max(1, r.Legitimate)) }, quantity.Rate},
	{"share predicted", func(r *exact.Report) float64 { return r.Expected / float64(max(1, r.Legitimate)) }, quantity.Rate},
	{"rate of banned set, measured", func(r *exact.Report) float64 { return r.Banned.FPR }, quantity.Rate},
	{"rate of banned set, predicted", func(r *exact.Report) float64 { return r.Banned.Predicted }, quantity.Rate},
	{"rate of tracked set, measured", func(r *exact.Report) float64 { return r.Tracked.FPR }, quantity.Rate},
	{"rate of tracked set, predicted", func(r *exact.Report) float64 { return r.Tracked.Predicted }, quantity.Rate},
	{"tracked users lost", func(r *exact.Report) float64 { return float64(r.Tracked.FalseNegatives) }, quantity.Short},
	{"keys pinned in the tracked set", func(r *exact.Report) float64 { return float64(r.Tracked.Pinned) }, quantity.Short},
	{"bans right", func(r *exact.Report) float64 { return float64(r.Bans.Right) }, quantity.Short},
	{"bans missing", func(r *exact.Report) float64 { return float64(r.Bans.Missing) }, quantity.Short},
	{"missing, rejected all the same", func(r *exact.Report) float64 { return float64(r.Bans.Covered) }, quantity.Short},
	{"bans late or spurious", func(r *exact.Report) float64 { return float64(r.Bans.Late + r.Bans.Spurious) }, quantity.Short},
	{"bytes in use", func(r *exact.Report) float64 { return float64(r.Gate.Bytes) }, quantity.Bytes},
}

// compare shows means over the seeds, with the interval that holds the true mean
// with a probability of 95 %.
func (g *gateCheck) compare(all []gatereport.Summary) error {
	if g.json {
		if err := printJSON(g.stdout, all); err != nil {
			return err
		}
		return verdictOn(all...)
	}
	t := tabwriter.NewWriter(g.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(t, "%d seeds\tmean\t95 %% interval\tlargest\n", len(all)) // Flush reports
	for _, f := range figures {
		var values []float64
		for _, s := range all {
			values = append(values, f.of(s.Check))
		}
		mean := lab.Mean(values)
		_, _ = fmt.Fprintf(t, "%s\t%s\t± %s\t%s\n", f.name, f.show(mean.Mean), f.show(mean.Reach(1.96)), f.show(slices.Max(values)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return verdictOn(all...)
}
