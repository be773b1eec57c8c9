package dlbf10

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
)

var encodings = lab.Experiment{
	ID:       "dlbf10/encodings",
	Paper:    "[DlBF10]",
	Title:    "Other codes for the clean regions",
	Question: "How many bits do other codes for the collisions need, and how many more keys can be deleted with them in the same m bits?",
	Says:     "Sec. V: \"An open question is if there are other compact and more flexible ways to code the information of the collision-free regions.\"",
	Quick:    encodingParams(100, 24, 48, 60, 90),
	Full:     encodingParams(paperTrials, 12, 24, 36, 48, 60, 72, 90, 120),
	Run:      runEncodings,
}

func encodingParams(trials int, budgets ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Ints("keys", 10, 16, 22, 28, 34), lab.Int("keys of the comparison", 22),
		lab.Ints("bits for the code", budgets...), lab.Int("trials", trials),
	}
}

func runEncodings(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps := len(e.Ints("keys")) + len(e.Ints("bits for the code"))
	sizes, err := codeSizes(ctx, e, steps)
	if err != nil {
		return nil, err
	}
	result := &lab.Result{Tables: []lab.Table{sizes}, Notes: []string{
		"Codes are exact, or name fewer cells than are clean, never a collided one. Sizes of enumerative codes are the logarithms of the number of cases, rounded up, and the count of collisions.",
		"The limit is the least information that any code must carry that does not look at which cells belong to which key, from rate-distortion theory, for cells that collide independently. It is a formula for large filters: in 240 bits exact codes come out up to 0.7 points above it where it has levelled off.",
	}}
	return result, codeGains(ctx, e, result, steps)
}

// codeSizes measures the bits of codes that name every collided cell.
func codeSizes(ctx context.Context, e *lab.Env, steps int) (lab.Table, error) {
	cells := e.Int("bits") * 9 / 10 // as with the paper's r = 24
	t := lab.Table{Name: "sizes", Title: fmt.Sprintf("Bits that say exactly which of %d cells have collisions", cells), Columns: []string{"n", "collided cells"}}
	for _, c := range exactCodes {
		t.Columns = append(t.Columns, c.name)
	}
	for i, n := range e.Ints("keys") {
		e.Progress(i, steps)
		trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (picture, error) {
			return takePicture(cells, e.Int("hashes"), 0, lab.RandomKeys(r, n))
		})
		if err != nil {
			return t, err
		}
		row := []any{n, lab.Digits(lab.Figure(trials, func(p picture) float64 { return float64(p.collisions()) }).Mean, 3)}
		for _, c := range exactCodes {
			row = append(row, lab.Digits(lab.Figure(trials, func(p picture) float64 { return c.bits(p) }).Mean, 4))
		}
		t.Add(row...)
	}
	return t, nil
}

// codeGains gives each code the same number of bits and the rest of m to the cells.
func codeGains(ctx context.Context, e *lab.Env, result *lab.Result, steps int) error {
	n, k := e.Int("keys of the comparison"), e.Int("hashes")
	series := make([]lab.Series, len(lossyCodes))
	table := lab.Table{Name: "codes", Title: fmt.Sprintf("Keys that can be deleted from %d bits, n = %d", e.Int("bits"), n), Columns: []string{"bits for the code", "rate"}}
	for i, c := range lossyCodes {
		series[i] = lab.Series{Name: c.name, Style: lab.LinePoints}
		table.Columns = append(table.Columns, c.name)
	}
	limit := lab.Series{Name: "limit", Style: lab.Dashed, Color: len(lossyCodes) + 1}
	table.Columns = append(table.Columns, "limit")
	for i, budget := range e.Ints("bits for the code") {
		e.Progress(len(e.Ints("keys"))+i, steps)
		cells := e.Int("bits") - budget
		trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]float64, error) {
			return deletableWith(cells, k, budget, r, n)
		})
		if err != nil {
			return err
		}
		v := numbers{cells: float64(cells), k: float64(k), n: float64(n)}
		row := []any{budget, lab.Digits(v.rate(), 3)}
		for j := range lossyCodes {
			found := lab.Figure(trials, func(t []float64) float64 { return t[j] })
			series[j].Points = append(series[j].Points, found.At(float64(budget)))
			row = append(row, found)
		}
		limit.Points = append(limit.Points, lab.Point{X: float64(budget), Y: v.limit(float64(budget))})
		table.Add(append(row, lab.Digits(v.limit(float64(budget)), 4))...)
	}
	result.Tables = append(result.Tables, table)
	result.Plots = append(result.Plots, lab.Plot{
		Name: "gains", Title: table.Title, X: lab.Axis{Label: "bits for the code; the others are cells"},
		Y: lab.Axis{Label: "keys that can be deleted", Percent: true}, Series: append(series, limit),
	})
	result.Checks = append(result.Checks, gainChecks(series, limit, n)...)
	return nil
}

// deletableWith tries all codes on one filter.
func deletableWith(cells, hashes, budget int, r *rand.Rand, n int) ([]float64, error) {
	p, err := takePicture(cells, hashes, 0, lab.RandomKeys(r, n))
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(lossyCodes))
	for i, c := range lossyCodes {
		out[i] = c.deletable(p, budget)
	}
	return out, nil
}

// gainChecks states what was found, at the first budget from the paper's 24 bits.
func gainChecks(series []lab.Series, limit lab.Series, n int) []lab.Check {
	at := max(0, slices.IndexFunc(limit.Points, func(p lab.Point) bool { return p.X >= 24 }))
	var checks []lab.Check
	for _, s := range series[1:] {
		checks = append(checks, lab.Show(fmt.Sprintf("%s, %.0f bits, n = %d", s.Name, s.Points[at].X, n),
			fmt.Sprintf("%s deletable, regions in a row %s", lab.Percent(s.Points[at].Y), lab.Percent(series[0].Points[at].Y))))
	}
	return append(checks, lab.Show(fmt.Sprintf("the limit, %.0f bits, n = %d", limit.Points[at].X, n), lab.Percent(limit.Points[at].Y)+" deletable"))
}

// rate is Eq. (2) for the cells alone.
func (v numbers) rate() float64 { return math.Pow(-math.Expm1(v.k*v.n*math.Log1p(-1/v.cells)), v.k) }
