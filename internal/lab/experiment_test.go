package lab

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func find1(context.Context, *Env) (*Result, error) {
	return &Result{Checks: []Check{{Name: "one", Ours: "1", Verdict: Shown}}}, nil
}

func valid() Experiment {
	return Experiment{
		ID: "topic/name-1", Title: "T", Question: "Q?", Run: find1,
		Params: Params{Int("n", 1).Full(2)},
	}
}

func TestDoRefusesBrokenResults(t *testing.T) {
	broken := errors.New("no memory")
	points := func(pts ...Point) *Result {
		return &Result{Plots: []Plot{{Name: "p", X: Axis{Log: true}, Series: []Series{{Points: pts}}}}}
	}
	for want, run := range map[string]func(context.Context, *Env) (*Result, error){
		"no memory":        func(context.Context, *Env) (*Result, error) { return nil, broken },
		"no result":        func(context.Context, *Env) (*Result, error) { return nil, nil },
		"an empty result":  func(context.Context, *Env) (*Result, error) { return &Result{}, nil },
		"not finite":       func(context.Context, *Env) (*Result, error) { return points(Point{X: 1, Y: math.NaN()}), nil },
		"logarithmic axis": func(context.Context, *Env) (*Result, error) { return points(Point{X: 0, Y: 1}), nil },
		"outside its":      func(context.Context, *Env) (*Result, error) { return points(Point{X: 1, Y: 1, Lo: 2, Hi: 3}), nil },
		"0 points":         func(context.Context, *Env) (*Result, error) { return points(), nil },
		"has no series":    func(context.Context, *Env) (*Result, error) { return &Result{Plots: []Plot{{Name: "p"}}}, nil },
		"it is taken or": func(context.Context, *Env) (*Result, error) {
			return &Result{Tables: []Table{{Name: "t"}, {Name: "t"}}}, nil
		},
		`name "../x"`:   func(context.Context, *Env) (*Result, error) { return &Result{Tables: []Table{{Name: "../x"}}}, nil },
		`name "checks"`: func(context.Context, *Env) (*Result, error) { return &Result{Tables: []Table{{Name: "checks"}}}, nil },
		"1 cells for 2": func(context.Context, *Env) (*Result, error) {
			return &Result{Tables: []Table{{Name: "t", Columns: []string{"a", "b"}, Rows: [][]string{{"1"}}}}}, nil
		},
		"lab: topic/name-1": func(context.Context, *Env) (*Result, error) { return nil, broken },
	} {
		x := valid()
		x.Run = run
		if _, err := x.Do(t.Context(), &Env{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if r, err := valid().Do(t.Context(), &Env{}); err != nil || len(r.Checks) != 1 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestTallyCountsVerdicts(t *testing.T) {
	r := &Result{Checks: []Check{{Verdict: Reproduced}, {Verdict: Differs}, {Verdict: Differs, Known: true}, {Verdict: Shown}}}
	if got := Tally(r.Checks); got != "1 reproduced, 2 differ, 1 shown" || len(r.Unexpected()) != 1 {
		t.Errorf("%s, %v", got, r.Unexpected())
	}
	if got := Tally(nil); got != "no checks" {
		t.Error(got)
	}
}
