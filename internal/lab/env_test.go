package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// draws is what an experiment sees of the random numbers: two calls of Trials and
// a source of its own.
func draws(t *testing.T, e *Env) []uint64 {
	t.Helper()
	var all []uint64
	for range 2 {
		got, err := Trials(t.Context(), e, 50, func(_ int, r *rand.Rand) (uint64, error) { return r.Uint64(), nil })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
	}
	return append(all, e.Rand(0).Uint64(), e.Rand(1).Uint64())
}

func TestRandomNumbersDependOnSeedAndTrialOnly(t *testing.T) {
	one := draws(t, &Env{Seed: 7, Workers: 1})
	for _, workers := range []int{0, 2, 13} {
		if got := draws(t, &Env{Seed: 7, Workers: workers}); !slices.Equal(got, one) {
			t.Errorf("seed 7: %d workers give other numbers", workers)
		}
	}
	// Seeds, calls and trials must not share numbers.
	all := append(one, draws(t, &Env{Seed: 8})...)
	slices.Sort(all)
	if len(slices.Compact(all)) != 204 {
		t.Error("seeds 7 and 8: numbers repeat")
	}
}

func TestTrialsComeBackInOrder(t *testing.T) {
	got, err := Trials(t.Context(), &Env{Workers: 8}, 1000, func(i int, _ *rand.Rand) (int, error) { return i, nil })
	if err != nil || len(got) != 1000 || !slices.IsSorted(got) {
		t.Errorf("%d results, %v", len(got), err)
	}
	if got, err := Trials(t.Context(), &Env{}, 0, func(i int, _ *rand.Rand) (int, error) { return i, nil }); err != nil || len(got) != 0 {
		t.Errorf("no trials: %v, %v", got, err)
	}
}

func TestTrialsStopWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var ran atomic.Int64
	_, err := Trials(ctx, &Env{Workers: 2}, 1_000_000, func(i int, _ *rand.Rand) (int64, error) {
		if i == 10 {
			cancel()
		}
		return ran.Add(1), nil
	})
	if !errors.Is(err, context.Canceled) || ran.Load() > 100_000 {
		t.Errorf("%v after %d trials", err, ran.Load())
	}
}

func TestFailedTrialIsReported(t *testing.T) {
	broken := errors.New("broken")
	got, err := Trials(t.Context(), &Env{Workers: 3}, 100, func(i int, _ *rand.Rand) (int, error) {
		if i == 17 {
			return 0, broken
		}
		return i, nil
	})
	if !errors.Is(err, broken) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParametersAreFoundByNameAndType(t *testing.T) {
	e := &Env{Params: Params{Int("n", 5), Float("p", 0.5), Ints("sizes", 1, 2), Floats("rates", 0.1, 1e-9)}}
	if e.Int("n") != 5 || e.Float("p") != 0.5 || len(e.Ints("sizes")) != 2 || len(e.Floats("rates")) != 2 {
		t.Error("wrong values")
	}
	var texts []string
	for _, p := range e.Params {
		texts = append(texts, p.String())
	}
	if want := []string{"5", "0.5", "1, 2", "0.1, 1e-09"}; !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a parameter of another type was found")
		}
	}()
	e.Float("n")
}

func TestFullRunsHaveTheirOwnValues(t *testing.T) {
	p := Params{Int("n", 1).Full(1 << 30), Float("f", 0.5).Full(2), Ints("ns", 1, 2).Full(3), Floats("fs", 1).Full(1, 2.5), Int("same", 9)}
	for full, want := range map[bool]string{false: "1 0.5 1, 2 1 9", true: "1073741824 2 3 1, 2.5 9"} {
		e := &Env{Params: p.In(full)}
		got := fmt.Sprint(Int("", e.Int("n")), " ", Float("", e.Float("f")), " ", Ints("", e.Ints("ns")...), " ", Floats("", e.Floats("fs")...), " ", e.Int("same"))
		if got != want {
			t.Errorf("full %t: %s, want %s", full, got, want)
		}
	}
	if (&Env{Params: p}).Int("n") != 1 {
		t.Error("the parameters themselves are not those of a quick run")
	}
}

func TestNumbersHaveOneStyle(t *testing.T) {
	for v, want := range map[float64]string{1.148698354997035: "1.149", 10_240_000: "10240000", 0.5: "0.5", 1e-5: "1e-5", 1234.7: "1235", 0: "0", -3: "-3", 0.001465: "0.001465"} {
		if got := number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := Mean([]float64{2.00533, 2.00533, 2.00533}).String(); got != "2.01" {
		t.Error(got)
	}
}
