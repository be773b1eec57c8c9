// Package runner runs experiments one after the other and stores each result as
// soon as it is there, so that a run that ends early loses one experiment at most
// and the next one goes on where it stopped.
//
// Experiments never run at the same time: one that measures times must not
// disturb another. The trials of an experiment do.
package runner

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/origin"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// Runner says how experiments are run.
type Runner struct {
	Dir     store.Dir
	Full    bool
	Seed    uint64
	Data    string // folder with real data, or empty
	Workers int    // 0: as many as there are processors
	Origin  origin.Origin

	// Again runs also what would only repeat a stored result, and lets quick results
	// replace full ones. Without it a stored full result of the present parameters
	// will do for a quick run, even if it is of another commit, seed or data: seconds
	// must not replace the work of hours by themselves.
	Again bool

	OnProgress func(Progress) // called from several goroutines
	OnDone     func(Outcome)  // after each experiment
}

// Progress is how far a run has come.
type Progress struct {
	ID           string  // of the experiment at work
	Index, Count int     // its place among those to run, from 0
	Share        float64 // of the whole work; all experiments count alike
}

// Outcome is what became of one experiment.
type Outcome struct {
	Experiment lab.Experiment
	Record     *store.Record // nil if there is none
	Stored     bool          // Record is from an earlier run
	Err        error         // why it could not be run; Record is nil then
}

// Run runs the experiments and returns an outcome for each, in order. Failures
// are in the outcomes. The error is that of ctx, or of the store: work that cannot
// be kept is not begun. Experiments that were not reached have it as theirs, too.
func (r *Runner) Run(ctx context.Context, list []lab.Experiment) ([]Outcome, error) {
	outcomes, count := make([]Outcome, len(list)), 0
	for i, x := range list {
		if outcomes[i] = r.stored(x); !outcomes[i].Stored {
			count++
		}
	}
	var stop error
	place := 0
	for i := range outcomes {
		if !outcomes[i].Stored {
			if stop = cmp.Or(stop, ctx.Err()); stop != nil {
				outcomes[i] = Outcome{Experiment: list[i], Err: stop}
				continue
			}
			outcomes[i], stop = r.run(ctx, list[i], func(share float64) {
				if r.OnProgress != nil {
					r.OnProgress(Progress{ID: list[i].ID, Index: place, Count: count, Share: (float64(place) + share) / float64(count)})
				}
			})
			place++
		}
		if r.OnDone != nil && ctx.Err() == nil {
			r.OnDone(outcomes[i])
		}
	}
	return outcomes, cmp.Or(ctx.Err(), stop)
}

// stored returns what is there and whether it will do. A result that cannot be
// read is as good as none.
func (r *Runner) stored(x lab.Experiment) Outcome {
	record, err := r.Dir.Load(x.ID)
	if err != nil {
		return Outcome{Experiment: x}
	}
	repeats := record.Repeats(x, r.env(x), r.Origin.Commit)
	kept := !r.Full && record.Full && record.Current(x)
	return Outcome{Experiment: x, Record: record, Stored: !r.Again && (repeats || kept)}
}

func (r *Runner) env(x lab.Experiment) *lab.Env {
	return &lab.Env{Params: x.Params(r.Full), Full: r.Full, Seed: r.Seed, Data: r.Data, Workers: r.Workers}
}

// run runs one experiment and stores what it found. The error is that of storing.
func (r *Runner) run(ctx context.Context, x lab.Experiment, progress func(share float64)) (Outcome, error) {
	out := Outcome{Experiment: x}
	env := r.env(x)
	env.OnProgress = progress
	files := x.Files(r.Data)
	progress(0)
	start := time.Now()
	result, err := x.Do(ctx, env)
	// An experiment that does not mind the interruption has not done all its work.
	if out.Err = cmp.Or(err, ctx.Err()); out.Err != nil {
		return out, nil
	}
	workers := r.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	record := &store.Record{
		ID: x.ID, Full: r.Full, Params: store.Settings(env.Params), Seed: r.Seed, Data: files,
		Origin: r.Origin, Workers: workers, Started: start.UTC().Truncate(time.Second),
		Seconds: time.Since(start).Seconds(), Result: *result,
	}
	if out.Err = r.Dir.Save(record); out.Err == nil {
		out.Record = record
	}
	return out, out.Err
}
