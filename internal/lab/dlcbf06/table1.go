package dlcbf06

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

var table1 = lab.Experiment{
	ID:       "dlcbf06/table1",
	Title:    "Table 1: bucket loads under never-ending change, and what else Sec. 5.1 counts",
	Question: "Do the loads of a d-left filter that is always full and always changing follow the fluid limit, and do overflow, counters and rate come out as printed?",
	Says: "Table 1 and Sec. 5.1: 49,152 elements, 2^20 times one is deleted and another inserted, 10,000 trials. Shares of buckets by load as in the fluid limit; " +
		"no overflow, and no full bucket in the fourth subarray; four elements with one hash value in 6 trials; rates of false positives from 0.00106 to 0.00195, 0.001463 on average.",
	Params: lab.Params{lab.Int("trials", 7).Full(paperTrials), lab.Int("steps", 1<<19).Full(paperSteps), lab.Int("queries", paperQueries)},
	Run:    runTable1,
	Plots: []lab.View{
		{
			Name: "buckets", Title: "Buckets with at least so many keys, 49,152 keys in 8,192 buckets", X: "keys in a bucket", Y: lab.Axis{Label: "share of buckets", Percent: true},
			Curves: []lab.Curve{{Measured: "simulation", Formula: "fluid limit"}, {Formula: "insertions only", Style: lab.Dashed}},
			Marks:  []lab.Mark{{X: 4, Y: 0.9502, Text: "simulation"}, {X: 5, Y: 0.7655}, {X: 6, Y: 0.2868}, {X: 7, Y: 0.0022}},
		},
	},
	Claims: append(append(loadClaims(), dleftRates.claims()...),
		lab.Claim{Name: "odds of a load of 9, for a bucket", Printed: "1.681e-27 (\"on the order of 10^-27\")", Where: "Sec. 5.1", Of: lab.Of("fluid limit", "keys in a bucket", "≥ 9"), Is: lab.Rounds()},
		lab.Claim{
			Kind: lab.Erratum, Name: "odds of a load of 9, for a set of elements", Printed: "1e-27 (\"on the order of 10^-27 per set of elements\")", Where: "Sec. 5.1", Of: lab.Of("load of 9, any bucket"), Is: lab.Rounds(),
			Why: "1.681e-27 of Table 1 is the share of buckets; a set has 8,192 of them. It can still be ignored",
		},
		lab.Claim{
			Kind: lab.Own, Name: "why the columns of Table 1 differ", Printed: "equal fingerprints share a cell: loads follow the fluid limit at 5.9956", Of: lab.Of("simulation", "keys in a bucket", "≥ 7"),
			Is: lab.Below(lab.Of("between both limits")), Show: []lab.Pick{lab.Of("fluid limit, shared cells", "keys in a bucket", "≥ 7"), lab.Of("fluid limit", "keys in a bucket", "≥ 7")}, FullOnly: true,
		},
		lab.Claim{Name: "no overflow", Printed: "never in 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("overflow"), Is: lab.Zero(), Show: []lab.Pick{lab.Of("overflow, fluid limit")}},
		lab.Claim{Name: "no full bucket in the fourth subarray", Printed: "never in 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("fourth subarray full"), Is: lab.Zero()},
		lab.Claim{Name: "four elements of one hash value at some time", Printed: "0.06 %: six of 10,000 trials", Where: "Sec. 5.1", Of: lab.Of("four equal"), Is: lab.Agrees(paperTrials), Show: []lab.Pick{lab.Of("four equal, formula")}},
	),
}

// printedLoads is Table 1: simulation and fluid limit.
var printedLoads = [levels][2]string{
	{"1.0000", "1.0000"},
	{"0.9999", "0.9999"},
	{"0.9990", "0.9990"},
	{"0.9920", "0.9920"},
	{"0.9502", "0.9505"},
	{"0.7655", "0.7669"},
	{"0.2868", "0.2894"},
	{"0.0022", "0.0023"},
	{"0.0000", "1.681e-27"},
}

// atLeast names a load of Table 1.
func atLeast(i int) string { return fmt.Sprint("≥ ", i+1) }

func loadClaims() (claims []lab.Claim) {
	for i, p := range printedLoads {
		claims = append(claims,
			lab.Claim{Name: "fluid limit, load " + atLeast(i), Printed: p[1], Where: "Table 1", Of: lab.Of("fluid limit", "keys in a bucket", atLeast(i)), Is: lab.Rounds()},
			lab.Claim{Name: "simulation, load " + atLeast(i), Printed: p[0], Where: "Table 1", Of: lab.Of("simulation", "keys in a bucket", atLeast(i)), Is: lab.Agrees(paperTrials)})
	}
	return claims
}

// dleftRates is what Sec. 5.1 prints about false positives.
var dleftRates = printedRates{average: "0.001463", least: 0.00106, most: 0.00195, formula: example.FPR(exampleKeys)}

// lookEvery is how many steps are between two looks at the fourth subarray.
const lookEvery = 1 << 16

func runTable1(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps, queries := e.Int("steps"), e.Int("queries")
	trials, err := lab.Trials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) (lab.Figures, error) {
		return live(exampleKeys, steps, lookEvery, queries, r)
	})
	if err != nil {
		return nil, err
	}
	return lab.Find(ctx, e, dleftRates.grid(trials, queries), loads(trials), events(trials, steps), lab.Notes{
		"Every trial draws new permutations and new keys. That a key finds all its buckets full and that four share a fingerprint is seen whenever it happens; " +
			fmt.Sprintf("full buckets of the fourth subarray are looked for every %d steps.", lookEvery),
		"Equal fingerprints share a cell: 49,152 keys take 49,116 cells on average, a load of 5.9956. The fluid limit at that load, not at 6, is what simulations " +
			"give, the paper's included: its two columns differ by just that.",
	})
}

// loads is Table 1.
func loads(trials []lab.Figures) *lab.Grid {
	six, shared := theory.DLeftSteadyLoads(4, 6, levels), theory.DLeftSteadyLoads(4, distinct(exampleKeys)/exampleBuckets, levels)
	names, between := make([]string, levels), make([]float64, levels)
	for i := range names {
		names[i], between[i] = atLeast(i), (six[i]+shared[i])/2
	}
	column := func(name string, shares []float64) lab.Formula {
		return lab.Formula{Name: name, Of: func(at lab.At) float64 { return shares[at.Int("keys in a bucket")] }}
	}
	return lab.Gather(trials, lab.Sweep{
		Name: "loads", Title: "Share of the buckets with at least so many keys", Dims: []lab.Dim{lab.Among("keys in a bucket", names...)},
		Metrics:  []lab.Metric{{Name: "simulation", At: func(l lab.Figures, at lab.At) float64 { return l[at.Name("keys in a bucket")] }}},
		Formulas: []lab.Formula{column("fluid limit", six), column("fluid limit, shared cells", shared), column("between both limits", between), column("insertions only", theory.DLeftInsertLoads(4, 6, levels))},
	})
}

// events are the rare ones of Sec. 5.1.
func events(trials []lab.Figures, steps int) *lab.Grid {
	return lab.Gather(trials, lab.Sweep{
		Name: "events", Title: fmt.Sprintf("Share of %d trials in which it happened", len(trials)),
		Metrics: []lab.Metric{{Name: "overflow"}, {Name: "fourth subarray full"}, {Name: "four equal", Unit: lab.InPercent, Asked: lab.Each(1)}},
		Formulas: []lab.Formula{
			lab.Fixed("overflow, fluid limit", lab.Plain, example.ChurnOverflow(exampleKeys, uint64(steps))),
			lab.Fixed("four equal, formula", lab.InPercent, fourEqual(steps)),
			lab.Fixed("load of 9, any bucket", lab.Plain, exampleBuckets*theory.DLeftSteadyLoads(4, 6, levels)[levels-1]),
		},
	})
}

// fourEqual is the probability that four keys share a fingerprint at the start, or after a
// step, which has four chances in n to touch a given four.
func fourEqual(steps int) float64 {
	return theory.DLeftEqualFingerprints(exampleKeys, fingerprints, 4) * (1 + 4*float64(steps)/exampleKeys)
}
