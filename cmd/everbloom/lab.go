package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// newLab is the verb above list, run and report.
func newLab(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "lab",
		GroupID: groupLab,
		Short:   "Run the experiments of the papers again",
		Long: `Lab runs the figures, tables and printed numbers of the papers again, compares
and draws them. An experiment has quick parameters, which take seconds, and full
ones, those of the paper.`,
		Example: `  everbloom lab list
  everbloom lab run sum/params
  everbloom lab report`,
		Args: noVerb,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabList(e), newLabRun(e), newLabReport(e))
	return cmd
}

// labFolder is where results are by default.
const labFolder = "lab-results"

// session is what run and report have in common: experiments at work.
type session struct {
	*env
	full  bool
	seed  uint64
	data  string
	again bool
	quiet bool

	at atomic.Pointer[terminal.State]
}

func (s *session) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.full, "full", false, "with the papers' own numbers of trials: hours, all in all")
	s.seed = 1
	cmd.Flags().Var(seedFlag(&s.seed), "seed", "start all random numbers from `N`")
	cmd.Flags().StringVar(&s.data, "data", "", "`FOLDER` with real data for the experiments that can use it")
	cmd.Flags().BoolVar(&s.again, "again", false, "run also what would only repeat a stored result")
	quietFlag(cmd, &s.quiet)
}

// execute runs what is not stored yet and calls done after each experiment, while
// nothing else writes to the terminal.
func (s *session) execute(ctx context.Context, r *store.Runner, list []lab.Experiment, done func(store.Outcome)) ([]store.Outcome, error) {
	if s.data != "" {
		if info, err := os.Stat(s.data); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--data: %s is not a folder", s.data)
		}
	}
	r.Full, r.Seed, r.Data, r.Again, r.Origin = s.full, s.seed, s.data, s.again, store.Here()
	r.OnStart = func(id string, index, count int) {
		s.at.Store(&terminal.State{Label: "lab", Done: int64(index), Total: int64(count), Notes: fmt.Sprintf("%s (%d of %d)", id, index+1, count)})
	}
	bar := s.progress(s.quiet, s.state)
	defer bar.Stop()
	r.OnDone = func(o store.Outcome) { bar.Aside(func() { done(o) }) }
	outcomes, err := r.Run(ctx, list)
	if errors.Is(err, context.Canceled) {
		return outcomes, &partial{err, kept(outcomes)}
	}
	return outcomes, err
}

// state shows which experiment is at work, and the share of those that are done.
func (s *session) state() terminal.State {
	if at := s.at.Load(); at != nil {
		return *at
	}
	return terminal.State{Label: "lab"}
}

// kept says what an interrupted run leaves.
func kept(outcomes []store.Outcome) string {
	n := 0
	for _, o := range outcomes {
		if o.Record != nil && o.Err == nil {
			n++
		}
	}
	return fmt.Sprintf("%d of %d results are stored, the same command goes on with the others", n, len(outcomes))
}

// failed reports the experiments that ended with an error.
func failed(outcomes []store.Outcome) error {
	var all []error
	for _, o := range outcomes {
		if o.Err != nil {
			all = append(all, o.Err)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.Join(append(all, fmt.Errorf("%d of %d experiments failed", len(all), len(outcomes)))...)
}

// labDir makes the folder for results and writes to it, before hours of work are
// lost on one that cannot be written.
func labDir(path string) (store.Dir, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return "", within(path, "is a file: name a folder")
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return "", within(path, "cannot be written: %w", systemReason(err))
	}
	if err := tryFolder(path); err != nil {
		return "", within(path, "cannot be written: %w", systemReason(err))
	}
	return store.Dir(path), nil
}
