package compare

import (
	"context"
	"fmt"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// The operations that are timed.
const (
	add = iota
	present
	absent
	remove
	operations
)

var operationNames = [operations]string{"add", "present", "absent", "delete"}

// times are nanoseconds per operation, round by round.
type times [operations][]float64

// median is 0 if nothing was measured.
func (t *times) median(op int) float64 { return lab.Median(t[op]) }

// timeAll has all entrants do all operations, in turns, in new filters each round.
func timeAll(ctx context.Context, e *lab.Env, found []*finding, k keys) error {
	for round := range e.Int("rounds") {
		made := make([]filter.Filter, len(found))
		for i, f := range found {
			var err error
			if made[i], err = f.make(uint64(e.Int("keys")), e.Float("rate")); err != nil {
				return err
			}
		}
		for op := range operations {
			if err := timeOne(ctx, e, found, made, op, k); err != nil {
				return fmt.Errorf("round %d: %w", round, err)
			}
		}
	}
	return nil
}

// timeOne goes through all keys, a stride of each entrant after the other.
func timeOne(ctx context.Context, e *lab.Env, found []*finding, made []filter.Filter, op int, k keys) error {
	n, stride := e.Int("keys"), e.Int("stride")
	spent := make([]time.Duration, len(found))
	for start := 0; start < n; start += stride {
		for i, f := range found {
			if op == remove && !f.canDelete {
				continue
			}
			do, err := operation(op, made[i], k), error(nil)
			timing.Pinned(func() {
				before := timing.Thread()
				for j := start; j < min(start+stride, n) && err == nil; j++ {
					err = do(j)
				}
				spent[i] += timing.Thread() - before
			})
			if err != nil || ctx.Err() != nil {
				return fmt.Errorf("%s: %s: %w", f.name, operationNames[op], firstOf(err, ctx.Err()))
			}
		}
	}
	for i, f := range found {
		if spent[i] > 0 {
			f.times[op] = append(f.times[op], float64(spent[i])/float64(n))
		}
	}
	return nil
}

// operation returns what is timed. Refusals for want of room and of keys that are
// pinned are answers, too.
func operation(op int, f filter.Filter, k keys) func(i int) error {
	switch op {
	case add:
		return func(i int) error {
			if _, err := f.Add(k.member(i)); err != nil && !isFull(err) {
				return err
			}
			return nil
		}
	case present:
		return func(i int) error { f.MayContain(k.member(i)); return nil }
	case absent:
		return func(i int) error { f.MayContain(k.stranger(i)); return nil }
	default:
		return func(i int) error {
			if err := filter.Delete(f, k.member(i)); err != nil && !refused(err) {
				return err
			}
			return nil
		}
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fastest checks what the README advises for the fastest queries.
func fastest(found []*finding) lab.Check {
	own, best := (*finding)(nil), (*finding)(nil)
	sum := func(f *finding) float64 { return f.times.median(present) + f.times.median(absent) }
	for _, f := range found {
		switch {
		case f.name == "blocked":
			own = f
		case f.name != exactName && (best == nil || sum(f) < sum(best)):
			best = f
		}
	}
	if own == nil || best == nil {
		return lab.Show(timed+"fastest queries", "not measured")
	}
	return lab.Holds(timed+"fastest queries", "blocked (README)",
		fmt.Sprintf("blocked %s ns for a present and an absent key, next %s with %s ns: %.2f times", lab.Digits(sum(own), 3), best.name, lab.Digits(sum(best), 3), sum(best)/sum(own)),
		sum(own) <= sum(best), "no other is faster; a direction").Because(
		"a timing: with so few keys all filters are in the processor's caches, where one line or several make no difference; see docs/benchmarks.md for sizes where they do").Timed()
}

// timed begins the names of checks that compare times.
const timed = "timing: "
