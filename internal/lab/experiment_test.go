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
		Quick: Params{Int("n", 1)}, Full: Params{Int("n", 2)},
	}
}

func TestDescriptionsAreChecked(t *testing.T) {
	if err := valid().Check(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Experiment){
		"identifier":                func(x *Experiment) { x.ID = "Topic/name" },
		"of the form":               func(x *Experiment) { x.ID = "../name" },
		"no title":                  func(x *Experiment) { x.Title = "" },
		"no question":               func(x *Experiment) { x.Question = "" },
		"does not tell":             func(x *Experiment) { x.Paper = "[Sum]" },
		"nothing to run":            func(x *Experiment) { x.Run = nil },
		"1 quick parameters":        func(x *Experiment) { x.Full = nil },
		`is "n" of type float64`:    func(x *Experiment) { x.Full = Params{Float("n", 2)} },
		`is "m" of type int`:        func(x *Experiment) { x.Full = Params{Int("m", 2)} },
		"has the type bool":         func(x *Experiment) { x.Quick = Params{{"n", true}}; x.Full = x.Quick },
		"there twice":               func(x *Experiment) { x.Quick = Params{Int("n", 1), Int("n", 1)}; x.Full = x.Quick },
		`parameter "" is without`:   func(x *Experiment) { x.Quick = Params{Int("", 1)}; x.Full = x.Quick },
		`experiment "topic/name-1"`: func(x *Experiment) { x.Title = "" },
	} {
		x := valid()
		spoil(&x)
		if err := x.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

func TestSelectUnderstandsIdentifiersTopicsGlobsAndAll(t *testing.T) {
	var list []Experiment
	for _, id := range []string{"sum/params", "sum/deletion", "ebf21/fig3", "ebf21/fig9"} {
		list = append(list, Experiment{ID: id})
	}
	for patterns, want := range map[string]string{
		"all":                   "sum/params sum/deletion ebf21/fig3 ebf21/fig9",
		"ebf21":                 "ebf21/fig3 ebf21/fig9",
		"ebf21/fig? sum/params": "sum/params ebf21/fig3 ebf21/fig9",
		"sum/params sum/params": "sum/params",
		"*/fig3":                "ebf21/fig3",
		"sum/delet* sum/d*":     "sum/deletion",
		"all nothing":           "error: no experiment matches \"nothing\"",
		"sum/[":                 "error: pattern",
	} {
		chosen, err := Select(list, strings.Fields(patterns)...)
		if text, bad := strings.CutPrefix(want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", patterns, err)
			}
			continue
		}
		var ids []string
		for _, x := range chosen {
			ids = append(ids, x.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v", patterns, got, err)
		}
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
	if got := r.Tally(); got != "1 reproduced, 2 differs, 1 shown" || len(r.Unexpected()) != 1 {
		t.Errorf("%s, %v", got, r.Unexpected())
	}
	if got := (&Result{}).Tally(); got != "no checks" {
		t.Error(got)
	}
}
