package store

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// Runner runs experiments one after the other and stores each result as soon as it is
// there, so that the next run goes on where one stopped. Experiments never run at the
// same time: one that measures times must not disturb another. Their trials do.
type Runner struct {
	Dir     Dir
	Full    bool
	Seed    uint64
	Data    string // folder with real data, or empty
	Workers int    // 0: as many as there are processors
	Origin  Origin

	// Again runs also what would only repeat a stored result, and lets quick results
	// replace full ones. Without it a stored full result of the present parameters
	// will do for a quick run: seconds must not replace hours by themselves.
	Again bool

	OnStart func(id string, index, count int) // index is from 0, of those to run
	OnDone  func(Outcome)                     // after each experiment
}

// Outcome is what became of one experiment.
type Outcome struct {
	Experiment lab.Experiment
	Record     *Record // nil if there is none
	Stored     bool    // Record is from an earlier run
	Err        error   // why it could not be run; Record is nil then
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
	index := 0
	for i, x := range list {
		if !outcomes[i].Stored {
			if stop = cmp.Or(stop, ctx.Err()); stop != nil {
				outcomes[i] = Outcome{Experiment: x, Err: stop}
				continue
			}
			if r.OnStart != nil {
				r.OnStart(x.ID, index, count)
			}
			outcomes[i], stop = r.run(ctx, x)
			index++
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
	record, err := r.Dir.Load(x)
	if err != nil {
		return Outcome{Experiment: x}
	}
	repeats := record.Repeats(x, r.env(x), r.Origin.Commit)
	kept := !r.Full && record.Full && record.Current(x)
	return Outcome{Experiment: x, Record: record, Stored: !r.Again && (repeats || kept)}
}

func (r *Runner) env(x lab.Experiment) *lab.Env {
	return &lab.Env{Params: x.Params.In(r.Full), Full: r.Full, Seed: r.Seed, Data: r.Data, Workers: cmp.Or(r.Workers, runtime.GOMAXPROCS(0))}
}

// run runs one experiment and stores what it found. The error is that of storing.
func (r *Runner) run(ctx context.Context, x lab.Experiment) (Outcome, error) {
	out, env, start := Outcome{Experiment: x}, r.env(x), time.Now()
	files := x.Files(r.Data)
	result, err := x.Do(ctx, env)
	// An experiment that does not mind the interruption has not done all its work.
	if out.Err = cmp.Or(err, ctx.Err()); out.Err != nil {
		return out, nil
	}
	record := &Record{
		ID: x.ID, Full: r.Full, Params: Settings(env.Params), Seed: r.Seed, Data: files,
		Origin: r.Origin, Workers: env.Workers, Started: start.UTC().Truncate(time.Second),
		Seconds: time.Since(start).Seconds(), Result: *result,
	}
	if out.Err = r.Dir.Save(record); out.Err == nil {
		out.Record = record
	}
	return out, out.Err
}
