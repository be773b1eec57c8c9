package lab

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// study is an experiment over x = 1 to 4 with noise, whose means are known.
func study(t *testing.T) findings {
	t.Helper()
	g, err := Sweep{
		Name: "means", Dims: []Dim{Among("contender", "a", "b"), Along("x", 1, 2, 3, 4)}, Trials: 100,
		Trial: func(at At, r *rand.Rand) (Figures, error) {
			x, noise := at.Float("x")+at.Float("contender"), 0.01*r.NormFloat64()
			return Figures{"line": x + noise, "bent": math.Abs(x-3) + noise, "share": 0, "nothing": 0, "loud": 1 + 1000*noise}, nil
		},
		Metrics: []Metric{{Name: "line"}, {Name: "bent"}, {Name: "share", Unit: InPercent, Asked: Each(10)}, {Name: "nothing"}, {Name: "loud"}},
		Formulas: []Formula{
			{Name: "formula", Of: func(at At) float64 { return at.Float("x") + at.Float("contender") }},
			{Name: "higher", Of: func(at At) float64 { return at.Float("x") + at.Float("contender") + 0.1 }},
			{Name: "half above", Of: func(at At) float64 { return 3.5 }},
			{Name: "one in ten", Unit: InPercent, Of: func(At) float64 { return 0.1 }},
			{Name: "one in a million", Unit: InPercent, Of: func(At) float64 { return 1e-6 }},
		},
	}.Run(t.Context(), &Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return findings{g}
}

// Every test is right about good and about spoilt numbers.
func TestClaimsAreJudged(t *testing.T) {
	f := study(t)
	for _, c := range []struct {
		name    string
		printed string
		of      Pick
		is      Test
		want    Verdict
	}{
		{"rounds", "3.0", Of("formula", "contender", "a", "x", 3), Rounds(), Reproduced},
		{"rounds to another", "3.1", Of("formula", "contender", "a", "x", 3), Rounds(), Differs},
		{"inside", "1 to 5", Of("formula"), Inside("1", "5"), Reproduced},
		{"inside by digits", "0.6 to 5", Of("formula"), Inside("1.04", "5"), Differs},
		{"above the inside", "1 to 4", Of("formula"), Inside("1", "4"), Differs},
		{"agrees", "3.00", Of("line", "contender", "a", "x", 3), Agrees(0), Reproduced},
		{"none of 1000 says nothing about few", "0.1 %", Of("share", "contender", "a", "x", 3), Agrees(0), Shown},
		{"none of 1000 is not one in ten, in print", "10 %", Of("share", "contender", "a", "x", 3), Agrees(0), Differs},
		{"agrees with another", "3.02", Of("line", "contender", "a", "x", 3), Agrees(0), Differs},
		{"around", "3 or so", Of("higher", "contender", "b", "x", 2), Around(), Reproduced},
		{"around is one digit", "3 or so", Of("higher", "contender", "b", "x", 3), Around(), Differs},
		{"around is a fifth", "1 or so", Of("formula", "contender", "a", "x", 2).Over(Of("half above")), Around(), Differs},
		{"just over", "4 and more", Of("higher", "contender", "a", "x", 4), JustOver(), Reproduced},
		{"not over", "4.2 and more", Of("higher", "contender", "a", "x", 4), JustOver(), Differs},
		{"far over", "3 and more", Of("higher", "contender", "a", "x", 4), JustOver(), Differs},
		{"at most", "", Of("line"), AtMost(Of("formula")), Reproduced},
		{"at most, spoilt", "", Of("higher"), AtMost(Of("line")), Differs},
		{"at least", "", Of("line"), AtLeast(Of("formula")), Reproduced},
		{"at least, spoilt", "", Of("line"), AtLeast(Of("higher")), Differs},
		{"below", "", Of("line"), Below(Of("higher")), Reproduced},
		{"equal is not below", "", Of("line"), Below(Of("formula")), Differs},
		{"falls up to 3", "", Of("bent", "contender", "a"), In(Span{"x", 1, 3}, Falls("x")), Reproduced},
		{"does not fall from 2 on", "", Of("bent", "contender", "a"), In(Span{"x", 2, 0}, Falls("x")), Differs},
		{"above", "", Of("higher"), Above(Of("line")), Reproduced},
		{"equal is not above", "", Of("line"), Above(Of("formula")), Differs},
		{"matches", "", Of("line"), Matches(Of("formula")), Reproduced},
		{"does not match", "", Of("line"), Matches(Of("higher")), Differs},
		{"a ratio", "", Of("line", "contender", "b", "x", 1).Over(Of("line", "contender", "a")), Matches(Number(2)), Reproduced},
		{"a ratio, spoilt", "", Of("line", "contender", "b", "x", 1).Over(Of("line", "contender", "a")), Matches(Number(2.1)), Differs},
		{"mostly", "", Of("line", "contender", "a"), MostlyBelow(Of("half above")), Reproduced},
		{"half is not mostly", "", Of("line", "contender", "b"), MostlyBelow(Of("half above")), Differs},
		{"from x = 4", "", Of("half above", "contender", "a"), In(Span{Dim: "x", From: 4}, Below(Of("line"))), Reproduced},
		{"from x = 3", "", Of("half above", "contender", "a"), In(Span{Dim: "x", From: 3}, Below(Of("line"))), Differs},
		{"rises", "", Of("line"), Rises("x"), Reproduced},
		{"rises, not falls", "", Of("line"), Falls("x"), Differs},
		{"bent", "", Of("bent", "contender", "a"), Falls("x"), Differs},
		{"does not move", "", Of("half above"), Rises("x"), Differs},
		{"never", "", Of("nothing"), Zero(), Reproduced},
		{"once", "", Of("line"), Zero(), Differs},
		{"never, computed", "", Of("formula", "contender", "a", "x", 1).Over(Of("line")), Zero(Number(8)), Differs},
		{"not tried", "", Pick{}, NotMeasured("no time"), Shown},
		{"none of 1000 is not one in ten", "", Of("share"), Matches(Of("one in ten")), Differs},
		{"none of 1000 says nothing about one in a million", "", Of("share"), Matches(Of("one in a million")), Shown},
		{"noise says nothing", "", Of("loud"), AtMost(Number(0.5)), Shown},
		{"shown", "", Of("line"), Shows(), Shown},
	} {
		check, err := f.judge(Claim{Name: c.name, Printed: c.printed, Of: c.of, Is: c.is}, &Env{})
		if err != nil || check.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s; %s; %v", c.name, check.Verdict, c.want, check.Ours, check.Tolerance, err)
		}
	}
}

func TestClaimsAboutNothingAreRefused(t *testing.T) {
	f := study(t)
	for name, c := range map[string]Claim{
		"no test":            {Of: Of("line")},
		"unknown metric":     {Of: Of("curve"), Is: Shows()},
		"unknown dimension":  {Of: Of("line", "y", 1), Is: Shows()},
		"unknown value":      {Of: Of("line", "x", 7), Is: Shows()},
		"unknown name":       {Of: Of("line", "contender", "c"), Is: Shows()},
		"several numbers":    {Of: Of("line"), Is: Rounds(), Printed: "1"},
		"unknown reference":  {Of: Of("line"), Is: AtMost(Of("curve"))},
		"unknown to show":    {Of: Of("line"), Is: Shows(), Show: []Pick{Of("curve")}},
		"divided by nothing": {Of: Of("line").Over(Of("nothing")), Is: Shows()},
		"nothing tried":      {Of: Of("formula"), Is: Zero()},
		"no steps":           {Of: Of("line", "x", 1), Is: Rises("x")},
	} {
		if check, err := f.judge(c, &Env{}); err == nil {
			t.Errorf("%s: %+v", name, check)
		}
	}
}

func TestReasonsAndKinds(t *testing.T) {
	f := study(t)
	wrong := Claim{Name: "x", Printed: "3.1", Where: "Sec. 2", Of: Of("formula", "contender", "a", "x", 3), Is: Rounds()}
	check, err := f.judge(wrong, &Env{})
	if err != nil || !check.Unexpected() || check.Printed != "3.1 (Sec. 2)" {
		t.Errorf("%+v, %v", check, err)
	}
	wrong.Why, wrong.Kind = "a slip", Erratum
	if check, _ = f.judge(wrong, &Env{}); check.Unexpected() || check.Word() != "erratum" || check.Reason != "a slip" {
		t.Errorf("%+v", check)
	}
	wrong.Printed = "3.0"
	if check, _ = f.judge(wrong, &Env{}); !check.Unexpected() || check.Word() != "right after all" {
		t.Errorf("an erratum that is none: %+v", check)
	}
	if got := Tally([]Check{{Verdict: Reproduced}, {Kind: Own, Verdict: Differs}, {Kind: Question, Verdict: Shown}, {Kind: Question, Verdict: Reproduced}, {Verdict: Shown}}); got != "1 reproduced, 1 fails, 2 answered, 1 shown" {
		t.Error(got)
	}
}

func TestConstantsAreCompared(t *testing.T) {
	g, claims := Constants("numbers", "Numbers", Constant{Name: "pi", Printed: "3.14", Value: math.Pi}, Constant{Name: "e", Printed: "2.7", Value: math.Pi, Why: "another"}, Constant{Name: "free", Value: 1})
	x := Experiment{Claims: append(claims, Claim{Name: "large", Of: Of("absent"), Is: Shows(), FullOnly: true}, Claim{Name: "real", Of: Of("absent"), Is: Shows(), DataOnly: true})}
	r, err := Find(t.Context(), &Env{}, g, Notes{"note"})
	if err == nil {
		err = x.finish(r, &Env{})
	}
	if err != nil || len(r.Notes) != 1 {
		t.Fatal(r, err)
	}
	if got := Tally(r.Checks); got != "1 holds, 1 fails, 3 shown" || len(r.Unexpected()) != 0 || len(r.Tables[0].Rows) != 3 {
		t.Errorf("%s: %+v", got, r)
	}
	for _, e := range []*Env{{Full: true}, {Data: "folder"}} {
		if err := x.finish(r, e); err == nil {
			t.Errorf("a claim about nothing is judged: %+v", e)
		}
	}
}

// The answers of a single trial are what a share is judged by.
func TestOneTrialHasTheSpreadOfItsAnswers(t *testing.T) {
	g, err := Sweep{
		Dims: []Dim{Along("share", 0.01, 0.02)}, Trials: 1, Trial: func(at At, _ *rand.Rand) (Figures, error) { return Figures{"yes": at.Float("share")}, nil },
		Metrics: []Metric{{Name: "yes", Unit: InPercent, Asked: Each(10_000)}},
	}.Run(t.Context(), &Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for share, want := range map[float64]Verdict{0.01: Reproduced, 0.02: Differs} {
		c, err := findings{g}.judge(Claim{Name: "rate", Printed: "at most 0.99 %", Of: Of("yes", "share", share), Is: AtMost(Number(0.0099))}, &Env{})
		if err != nil || c.Verdict != want {
			t.Errorf("%v: %+v, %v", share, c, err)
		}
	}
}

// A figure that a trial does not have is not there, rather than 0: Zero would hold of it.
func TestFiguresAreFoundByName(t *testing.T) {
	g, err := Sweep{
		Dims: []Dim{Count("n", 1, 2)}, Trials: 2, Metrics: []Metric{{Name: "all"}, {Name: "some"}, {Name: "none"}},
		Trial: func(at At, _ *rand.Rand) (Figures, error) {
			f := Figures{"all": at.Float("n")}
			if at.Int("n") == 2 {
				f["some"] = 7
			}
			return f, nil
		},
	}.Run(t.Context(), &Env{})
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]string{"all": "1.000 (n = 1), 2.00 (n = 2)", "some": "7.00", "none": ""} {
		cells, err := findings{g}.cells(Of(metric))
		if got := several(cells, nil); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, want %q, %v", metric, got, want, err)
		}
	}
}

func TestSweepFollowsTraces(t *testing.T) {
	g, err := Sweep{
		Name: "walk", Dims: []Dim{Along("n", 1, 2)}, Trace: Along("time", 0, 1, 2), Trials: 3,
		Follow: func(at At, _ *rand.Rand) ([]Figures, error) {
			n := at.Float("n")
			return []Figures{{"size": n}, {"size": 2 * n}, {"size": math.NaN()}}, nil
		},
		Metrics: []Metric{{Name: "size", Unit: "bits"}},
	}.Run(t.Context(), &Env{})
	if err != nil {
		t.Fatal(err)
	}
	table := g.table()
	if len(table.Rows) != 4 || strings.Join(table.Rows[3], ", ") != "2, 1, 4.00 bits" {
		t.Errorf("%v", table.Rows)
	}
	broken := errors.New("broken")
	_, err = Sweep{Trials: 1, Trial: func(At, *rand.Rand) (Figures, error) { return nil, broken }}.Run(t.Context(), &Env{})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestViewsAreDrawn(t *testing.T) {
	f := study(t)
	p, err := f.plot(View{
		Name: "lines", X: "x", By: "contender", Curves: []Curve{{Measured: "line", Formula: "formula"}, {Formula: "half above", Once: true}},
		Marks: []Mark{{X: 2, Y: 2, Text: "2 at x = 2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range p.Series {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, "|"); got != "|a||b|half above|printed: 2 at x = 2" {
		t.Error(got)
	}
	if n := len(p.Series[0].Points); n < 50 || p.Series[0].Color != p.Series[1].Color || p.Series[4].Color == p.Series[1].Color {
		t.Errorf("%d points, %+v", n, p.Series)
	}
	only, err := f.plot(View{Name: "b", X: "x", By: "contender", Only: []any{"b"}, Curves: []Curve{{Measured: "line"}}, Y: Axis{Log: true}})
	if err != nil || len(only.Series) != 1 || only.Series[0].Name != "b" || only.Series[0].Style != LinePoints {
		t.Errorf("%+v, %v", only.Series, err)
	}
	for _, v := range []View{
		{Name: "x", X: "x", Curves: []Curve{{Measured: "curve"}}},
		{Name: "x", X: "x", By: "contender", Only: []any{"c"}, Curves: []Curve{{Measured: "line"}}},
		{Name: "x", X: "x", At: []any{"y", 1}, Curves: []Curve{{Measured: "line"}}},
		{Name: "x", X: "x", Curves: slices.Repeat([]Curve{{Measured: "line"}}, 6)},
	} {
		if _, err := f.plot(v); err == nil {
			t.Errorf("%+v was drawn", v)
		}
	}
}

func TestRaceComparesRoundByRound(t *testing.T) {
	var now time.Duration
	spin := func(n int) func() error {
		return func() error { now += time.Duration(n) * time.Microsecond; return nil }
	}
	var keys []uint64
	race := Race{
		Name: "race", Dims: []Dim{Along("n", 10)}, Contenders: []string{"slow", "fast"}, Rounds: 5, clock: func() time.Duration { return now },
		Start: func(at At, contender string, r *rand.Rand) ([]Lap, error) {
			keys = append(keys, r.Uint64())
			laps := []Lap{{Name: "add", Ops: 10, Run: spin(1)}, {Name: "add", Ops: 10, Run: spin(1), Before: func() { now += time.Hour }}}
			if contender == "slow" {
				laps = []Lap{{Name: "add", Ops: 10, Run: spin(8)}, {Name: "add", Ops: 10, Run: spin(8)}, {Name: "delete", Ops: 10, Run: spin(1)}}
			}
			return laps, nil
		},
	}
	g, err := race.Run(t.Context(), &Env{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if keys[0] != keys[1] || keys[0] == keys[2] {
		t.Error("contenders of a round must have the same keys, rounds others")
	}
	f := findings{g}
	ratio := Of("add", Contenders, "slow").Over(Of("add", Contenders, "fast"))
	if c, err := f.at(ratio, At{}); err != nil || c.Value.Mean != 8 || c.Value.N != 5 {
		t.Errorf("%+v, %v", c, err)
	}
	// One round in three the other way: that is noise, not an order.
	noisy := Cell{Value: robust([]float64{0.8, 0.9, 1.3}), samples: []float64{0.8, 0.9, 1.3}}
	var s score
	if s.add(relation{sign: 1, clear: true}, noisy, Cell{Value: Estimate{Mean: 1}}); s.silent != 1 {
		t.Errorf("%+v", s)
	}
	// Points that the run cannot decide are no agreement.
	for decided, want := range map[int]Verdict{1: Shown, 2: Reproduced} {
		g := &Grid{Dims: []Dim{Along("x", 1, 2, 3, 4)}, columns: []string{"time"}}
		for i := range 4 {
			c := noisy
			if c.At = (At{g.Dims, []float64{float64(i + 1)}}); i < decided {
				c.Value, c.samples = robust([]float64{0.2, 0.2, 0.2}), []float64{0.2, 0.2, 0.2}
			}
			g.add(Cell{At: c.At, Metric: "time", Value: c.Value, samples: c.samples})
		}
		if j, err := Below(Number(1))(findings{g}, Claim{Of: Of("time")}); err != nil || j.verdict != want {
			t.Errorf("%d of 4 decided: %+v, %v", decided, j, err)
		}
	}
	times := func(x, ns float64) Cell {
		at := At{[]Dim{Along("x", 1, 2)}, []float64{x}}
		return Cell{At: at, Metric: "time", Value: Estimate{ns, 5, 3}, samples: []float64{ns - 5, ns, ns + 5}}
	}
	slow := findings{{Dims: []Dim{Along("x", 1, 2)}, columns: []string{"time"}, cells: []Cell{times(1, 10), times(2, 11)}}}
	if j, err := Rises("x")(slow, Claim{Of: Of("time")}); err != nil || j.verdict != Shown {
		t.Errorf("%+v, %v", j, err)
	}
	if cells, err := f.cells(Of("delete")); err != nil || len(cells) != 1 {
		t.Errorf("%v, %v", cells, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := race.Run(ctx, &Env{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// One set of trials gives several grids.
func TestTrialsAreGathered(t *testing.T) {
	trials := []Figures{{"value": 1, "half": 0.5}, {"value": 2, "half": 0.5}, {"value": 2, "half": 0.5}, {"value": 3, "half": 0.5}}
	f := findings{Gather(trials, Sweep{
		Dims: []Dim{Along("value", 1, 2, 3)},
		Metrics: []Metric{
			{Name: "share", At: func(f Figures, at At) float64 { return OneIf(f["value"] == at.Float("value")) }},
			{Name: "half"},
		},
		Formulas: []Formula{{Name: "formula", Of: func(at At) float64 { return at.Float("value") / 4 }}},
	})}
	for pick, want := range map[*Pick]float64{
		{metric: "share", fixed: []any{"value", 2}}: 0.5, {metric: "share", fixed: []any{"value", 3}}: 0.25,
		{metric: "half", fixed: []any{"value", 1}}: 0.5, {metric: "formula", fixed: []any{"value", 1}}: 0.25,
	} {
		if c, err := f.at(*pick, At{}); err != nil || c.Value.Mean != want {
			t.Errorf("%s: %v, want %v; %v", pick, c.Value.Mean, want, err)
		}
	}
}
