package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/report"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// labRun runs experiments.
type labRun struct {
	session
	out    string
	strict bool
}

func newLabRun(e *env) *cobra.Command {
	r := &labRun{session: session{env: e}}
	cmd := &cobra.Command{
		Use:   "run PATTERN...",
		Short: "Run experiments and store their results",
		Long: `Run runs the experiments that a PATTERN matches, an identifier, a topic or a
glob such as 'ebf21/*', and stores what they found as JSON, CSV and SVG. The
word all means every experiment; the topic of that name is 'all/*'.

Every result is stored as soon as it is there. What would only repeat a stored
result, with equal parameters, seed, data and code, is not run again: a run that
was interrupted goes on with the experiment at which it stopped, and begins that
one anew. A full result with the parameters of today is not replaced by a quick
one. With --again everything is run, and replaced.

The exit status is 0 whether or not the results are those of the papers. With
--strict it is 1 if a check differs that is expected to reproduce; the ones that
are known to differ, with the reason, do not count. It is 2 if an experiment
could not be run.`,
		Example: `  everbloom lab run sum/params
  everbloom lab run 'ebf21/*' --seed 7
  everbloom lab run all --full --out results --data captures
  everbloom lab run all --strict --quiet`,
		Args:              atLeast(1, "experiments; everbloom lab list shows them, all runs all of them"),
		RunE:              verb(r.run),
		ValidArgsFunction: e.completeExperiments,
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&r.out, "out", labFolder, "`FOLDER` for the results")
	cmd.Flags().BoolVar(&r.strict, "strict", false, "end with status 1 if a check differs that is expected to reproduce")
	return cmd
}

func (r *labRun) run(ctx context.Context, patterns []string) error {
	chosen, err := r.choose(patterns)
	if err != nil {
		return err
	}
	dir, err := labDir(r.out)
	if err != nil {
		return err
	}
	unexpected := 0
	outcomes, err := r.execute(ctx, &store.Runner{Dir: dir}, chosen, func(o store.Outcome) {
		if o.Record != nil {
			unexpected += len(o.Record.Result.Unexpected())
		}
		r.print(o)
	})
	if err != nil {
		return err
	}
	if err := failed(outcomes); err != nil {
		return err
	}
	if !r.quiet && len(outcomes) > 1 {
		// The results are in files, so an output that is not read is no failure.
		_, _ = fmt.Fprintf(r.stdout, "%-20s  %s\n", "in all", report.Tally(outcomes...))
	}
	if unexpected > 0 {
		r.say("%d checks differ that are expected to reproduce", unexpected)
	}
	if r.strict && unexpected > 0 {
		return errNone
	}
	return nil
}

// print shows one line for an experiment, and the checks that differ. An output
// that is not read is no reason to stop: the results are in files.
func (r *labRun) print(o store.Outcome) {
	if o.Err != nil || r.quiet && len(o.Record.Result.Unexpected()) == 0 {
		return // errors are reported in the end
	}
	took := o.Record.Took()
	if o.Stored {
		took = "done before"
		if o.Record.Full && !r.full {
			took = "kept: a full result; --again replaces it"
		}
	}
	_, _ = fmt.Fprintf(r.stdout, "%-20s  %s  (%s)\n", o.Experiment.ID, report.Tally(o), took)
	for _, c := range o.Record.Result.Checks {
		if c.Verdict == lab.Differs && (!r.quiet || c.Unexpected()) {
			c.Kind = cmp.Or(c.Kind, o.Experiment.Kind())
			_, _ = fmt.Fprintf(r.stdout, "  %s: %s: printed %s, ours %s\n    tolerance: %s\n    why: %s\n", c.Word(), c.Name, c.Printed, c.Ours, c.Tolerance, c.Reason)
		}
	}
}
