package lab

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Trials runs n independent trials on all workers and returns their results in
// order. Every trial has a random source of its own, which depends on the seed,
// on the trial's number and on how often Trials was called before: two calls in
// one experiment use different numbers. It is called by the goroutine that runs
// the experiment. The error is that of ctx.
func Trials[T any](ctx context.Context, e *Env, n int, trial func(i int, r *rand.Rand) T) ([]T, error) {
	return TryTrials(ctx, e, n, func(i int, r *rand.Rand) (T, error) { return trial(i, r), nil })
}

// TryTrials is [Trials] for trials that can fail. The first failure ends the
// others and is returned.
func TryTrials[T any](ctx context.Context, e *Env, n int, trial func(i int, r *rand.Rand) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.calls++
	var (
		out        = make([]T, max(n, 0))
		next, done atomic.Int64
		crew       sync.WaitGroup
	)
	for range min(e.workers(), n) {
		crew.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				result, err := trial(i, e.source(e.calls, uint64(i)))
				if err != nil {
					cancel(err)
					return
				}
				out[i] = result
				e.within(float64(done.Add(1)) / float64(n))
			}
		})
	}
	crew.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}
