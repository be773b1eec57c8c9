package dlbf10

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var adaptive = lab.Experiment{
	ID:       "dlbf10/adaptive",
	Paper:    "[DlBF10]",
	Title:    "Regions that follow the collisions",
	Question: "What is gained if the number of regions, or which cells belong to them, is chosen for each filter after its collisions are known?",
	Says:     "Sec. V leaves open \"a dynamic adaptation of the amount and the bit range of the deletable regions in function on how collisions happen\".",
	Quick:    adaptiveParams(100, 4),
	Full:     adaptiveParams(paperTrials, 8),
	Run:      runAdaptive,
	Plots: []lab.View{{
		Name: "amount", Title: "Keys that can be deleted from 240 bits, by number of regions", X: "regions", By: "n", XAxis: lab.Axis{Label: "regions r"}, Y: deletableAxis,
		Curves: []lab.Curve{{Measured: "deletable", Style: lab.Dots}},
	}},
	Claims: []lab.Claim{
		adaptation("filters with n = 22 in which 90 % can be deleted, adaptive amount", lab.Of("filters that reach 90 %", "n", 22, "regions", "adaptive"), lab.Of("filters that reach 90 %", "n", 22, "regions", "36"), lab.Of("filters that reach 90 %", "n", 22, "regions", "60")),
		adaptation("regions that the adaptive amount takes", lab.Of("r", "regions", "adaptive")),
		adaptation("24 bits for the regions, n = 22", lab.Of("deletable with", "bits for the regions", 24)),
		adaptation("60 bits for the regions, n = 22", lab.Of("deletable with", "bits for the regions", 60)),
	},
}

func adaptation(name string, of lab.Pick, show ...lab.Pick) lab.Claim {
	return lab.Claim{Kind: lab.Question, Name: name, Printed: "a dynamic adaptation of the amount and the bit range of the deletable regions", Where: "Sec. V", Of: of, Is: lab.Shows(), Show: show}
}

func adaptiveParams(trials, layoutBits int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Ints("keys", 10, 16, 22, 28, 34), lab.Ints("regions", 6, 12, 18, 24, 36, 48, 60, 120),
		lab.Float("wished deletability", 0.9), lab.Ints("bits for the regions", 24, 60), lab.Int("most bits for the layout", layoutBits), lab.Int("trials", trials),
	}
}

// version is a filter with one number of regions.
type version struct{ regions, deletable, rate float64 }

func runAdaptive(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	goal, regions := e.Float("wished deletability"), e.Ints("regions")
	var menu []string
	for _, r := range regions {
		menu = append(menu, strconv.Itoa(r))
	}
	e.Part(0, 2)
	amounts, err := lab.Sweep(ctx, e, lab.Spec[version]{
		Name: "amounts", Title: "How many regions", Dims: []lab.Dim{lab.Along("n", e.Ints("keys")...)}, Trace: lab.Among("regions", append(menu, "adaptive")...), Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]version, error) {
			return buildMenu(e, lab.RandomKeys(r, at.Int("n")), regions, goal)
		},
		Metrics: []lab.Metric[version]{
			{Name: "deletable", Unit: lab.InPercent, Of: func(v version) float64 { return v.deletable }},
			{Name: "filters that reach 90 %", Unit: lab.InPercent, Of: func(v version) float64 { return lab.OneIf(v.deletable >= goal) }},
			{Name: "rate", Unit: lab.InPercent, Of: func(v version) float64 { return v.rate }},
			{Name: "r", Of: func(v version) float64 { return v.regions }},
		},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	ranges, err := codeSweep(ctx, e, "ranges", "Which cells a region has, n = 22", "layout", e.Ints("bits for the regions"), layoutCodes(e.Int("bits"), e.Int("most bits for the layout"), e.Ints("bits for the regions")), 22)
	return &lab.Result{Grids: []*lab.Grid{amounts, ranges}, Notes: []string{
		"Amount: the sender builds the filter with each number of regions of a menu and sends the one with the fewest that lets 90 % of its keys be deleted. Which one it was takes bits of its own; they are taken out of the filter.",
		"Range: the cells of a region need not be neighbours. Sender and receiver know a list of layouts, and the sender takes the one in which most keys can be deleted; its number is paid for with marks.",
	}}, err
}

// buildMenu builds one filter for each number of regions, and the one that the
// sender chooses: the fewest that reach the goal, with some bits for their number.
func buildMenu(e *lab.Env, keys []filter.Key, regions []int, goal float64) (menu []version, err error) {
	number := bits.Len(uint(len(regions) - 1))
	chosen := version{deletable: -1}
	for _, r := range regions {
		s := shape(e, r)
		v, err := buildVersion(s, keys)
		if err != nil {
			return nil, err
		}
		menu = append(menu, v)
		s.Bits -= uint64(number)
		s.Regions = min(s.Regions, s.Bits/2)
		if v, err = buildVersion(s, keys); err != nil {
			return nil, err
		}
		if chosen.deletable < goal && v.deletable > chosen.deletable {
			chosen = v
		}
	}
	return append(menu, chosen), nil
}

func buildVersion(s deletable.Shape, keys []filter.Key) (version, error) {
	f, err := filled(s, keys)
	if err != nil {
		return version{}, err
	}
	rate := f.Info().FPR
	return version{float64(s.Regions), deleteAll(f, keys).deletable, rate}, nil
}

// codeSweep gives each code the same number of bits, and the rest of m to the cells.
// All codes see the same filters.
func codeSweep(ctx context.Context, e *lab.Env, name, title, dim string, budgets []int, codes []code, n int) (*lab.Grid, error) {
	budget := map[string]string{"layout": "bits for the regions", "code": "bits for the code"}[dim]
	m, k := e.Int("bits"), e.Int("hashes")
	v := func(at lab.At) numbers {
		return numbers{cells: float64(m) - at.Float(budget), k: float64(k), n: float64(n)}
	}
	return lab.Sweep(ctx, e, lab.Spec[gain]{
		Name: name, Title: title, Dims: []lab.Dim{lab.Along(budget, budgets...)}, Trace: lab.AmongAll(dim, codes, func(c code) string { return c.name }), Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]gain, error) {
			p, err := takePicture(m-at.Int(budget), k, 0, lab.RandomKeys(r, n))
			gains := make([]gain, len(codes))
			for i, c := range codes {
				if err == nil {
					gains[i] = c.gain(p, at.Int(budget))
				}
			}
			return gains, err
		},
		Metrics: []lab.Metric[gain]{
			{Name: "deletable with", Unit: lab.InPercent, Of: func(g gain) float64 { return g.deletable }},
			{Name: "set bits that can be cleared", Unit: lab.InPercent, Of: func(g gain) float64 { return g.free }},
		},
		Formulas: []lab.Formula{
			{Name: "limit", Unit: lab.InPercent, Of: func(at lab.At) float64 { return v(at).limit(at.Float(budget)) }},
			{Name: "false positives, Eq. (2)", Unit: lab.InPercent, Of: func(at lab.At) float64 { return v(at).rate() }},
		},
	})
}

var encodings = lab.Experiment{
	ID:       "dlbf10/encodings",
	Paper:    "[DlBF10]",
	Title:    "Other codes for the clean regions",
	Question: "How many bits do other codes for the collisions need, and how many more keys can be deleted with them in the same m bits?",
	Says:     "Sec. V: \"An open question is if there are other compact and more flexible ways to code the information of the collision-free regions.\"",
	Quick:    encodingParams(100, 24, 48, 60, 90),
	Full:     encodingParams(paperTrials, 12, 24, 36, 48, 60, 72, 90, 120),
	Run:      runEncodings,
	Plots: []lab.View{{
		Name: "gains", Title: "Keys that can be deleted from 240 bits, n = 22", X: "bits for the code", By: "code", XAxis: lab.Axis{Label: "bits for the code; the others are cells"},
		Y: lab.Axis{Label: "keys that can be deleted", Percent: true}, Curves: []lab.Curve{{Measured: "deletable with"}, {Formula: "limit", Style: lab.Dashed, Once: true}},
	}},
	Claims: []lab.Claim{
		{Kind: lab.Question, Name: "bits that name every collided cell, n = 22", Printed: "other compact and more flexible ways to code", Where: "Sec. V", Of: lab.Of("bits", "n", 22), Is: lab.Shows()},
		{Kind: lab.Question, Name: "keys that can be deleted with 24 bits", Printed: "other compact and more flexible ways to code", Where: "Sec. V", Of: lab.Of("deletable with", "bits for the code", 24), Is: lab.Shows(), Show: []lab.Pick{lab.Of("limit", "bits for the code", 24, "code", "regions in a row")}},
		{Kind: lab.Question, Name: "keys that can be deleted with 60 bits", Printed: "other compact and more flexible ways to code", Where: "Sec. V", Of: lab.Of("deletable with", "bits for the code", 60), Is: lab.Shows(), Show: []lab.Pick{lab.Of("limit", "bits for the code", 60, "code", "regions in a row")}},
	},
}

func encodingParams(trials int, budgets ...int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Ints("keys", 10, 16, 22, 28, 34), lab.Int("keys of the comparison", 22),
		lab.Ints("bits for the code", budgets...), lab.Int("trials", trials),
	}
}

func runEncodings(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	cells := e.Int("bits") * 9 / 10 // as with the paper's r = 24
	var names []string
	for _, c := range exactCodes {
		names = append(names, c.name)
	}
	e.Part(0, 2)
	sizes, err := lab.Sweep(ctx, e, lab.Spec[float64]{
		Name: "sizes", Title: fmt.Sprintf("Bits that say exactly which of %d cells have collisions", cells),
		Dims: []lab.Dim{lab.Along("n", e.Ints("keys")...)}, Trace: lab.Among("exact code", names...), Trials: e.Int("trials"),
		Follow: func(at lab.At, r *rand.Rand) ([]float64, error) {
			p, err := takePicture(cells, e.Int("hashes"), 0, lab.RandomKeys(r, at.Int("n")))
			sizes := make([]float64, len(exactCodes))
			for i, c := range exactCodes {
				if err == nil {
					sizes[i] = c.bits(p)
				}
			}
			return sizes, err
		},
		Metrics: []lab.Metric[float64]{{Name: "bits", Of: func(v float64) float64 { return v }}},
	})
	if err != nil {
		return nil, err
	}
	e.Part(1, 2)
	n := e.Int("keys of the comparison")
	gains, err := codeSweep(ctx, e, "codes", fmt.Sprintf("Keys that can be deleted, n = %d", n), "code", e.Ints("bits for the code"), otherCodes, n)
	return &lab.Result{Grids: []*lab.Grid{sizes, gains}, Notes: []string{
		"Codes are exact, or name fewer cells than are clean, never a collided one. Sizes of enumerative codes are the logarithms of the number of cases, rounded up, and the count of collisions.",
		"The limit is the least information that any code must carry that does not look at which cells belong to which key, from rate-distortion theory, for cells that collide independently. It is a formula for large filters: in 240 bits exact codes come out up to 0.7 points above it where it has levelled off.",
	}}, err
}
