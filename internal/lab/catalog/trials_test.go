package catalog

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/cluster"
	"github.com/everbloom-go/everbloom/internal/lab/dlbf10"
	"github.com/everbloom-go/everbloom/internal/lab/dlcbf06"
	"github.com/everbloom-go/everbloom/internal/lab/dpbf19"
	"github.com/everbloom-go/everbloom/internal/lab/ebf21"
	"github.com/everbloom-go/everbloom/internal/lab/field"
	"github.com/everbloom-go/everbloom/internal/lab/growth"
	"github.com/everbloom-go/everbloom/internal/lab/inpacket"
	"github.com/everbloom-go/everbloom/internal/lab/sum"
)

// group is experiments with other values for some parameters, so that runs take little
// time. The seeded ones measure no times.
type group struct {
	list   []lab.Experiment
	brief  lab.Params
	seeded []string
}

var groups = []group{
	{
		dlbf10.Experiments(),
		lab.Params{lab.Int("trials", 4), lab.Floats("turnovers", 0, 1.5)},
		[]string{"dlbf10/fig2", "dlbf10/fig3", "dlbf10/dynamics", "dlbf10/codes"},
	},
	{
		inpacket.Experiments(),
		lab.Params{lab.Int("trials", 3), lab.Int("nodes", 300), lab.Ints("links", 20, 24, 28), lab.Ints("lengths", 1, 4)},
		[]string{"inpacket/trees", "inpacket/chains"},
	},
	{
		sum.Experiments(),
		lab.Params{
			lab.Int("trials", 3), lab.Int("queries", 500), lab.Int("keys", 300), lab.Ints("keys", 500, 2_000), lab.Int("rounds", 1), lab.Ints("hashes", 7, 10), lab.Ints("users", 100, 200),
		},
		[]string{"sum/deletion", "sum/gate"},
	},
	{
		dpbf19.Experiments(),
		lab.Params{
			lab.Int("sets", 2), lab.Int("queries", 500), lab.Int("units of a list to ask", 500), lab.Int("rounds", 2), lab.Int("points per doubling", 1),
			lab.Int("chains", 3), lab.Int("merges in each", 10), lab.Int("id bits", 15), lab.Int("queries after each", 100), lab.Int("keys of a unit", 200),
			lab.Int("lists", 3), lab.Int("units to ask", 500), lab.Ints("sizes", 1_000, 10_000, 100_000),
		},
		[]string{"dpbf19/fig1", "dpbf19/fig3-5", "dpbf19/space", "dpbf19/theorem"},
	},
	{
		dlcbf06.Experiments(),
		lab.Params{
			lab.Int("trials", 2), lab.Int("trials with 53,428 elements", 2), lab.Int("further trials", 2), lab.Int("steps", 200), lab.Int("further steps", 200), lab.Int("queries", 100),
			lab.Int("steps between looks", 50), lab.Int("keys", 2_400), lab.Ints("cells", 2, 3),
		},
		[]string{"dlcbf06/table1", "dlcbf06/cbf", "dlcbf06/overflow", "dlcbf06/construction", "dlcbf06/worked"},
	},
	{
		ebf21.Experiments(),
		lab.Params{
			lab.Int("trials", 2), lab.Int("rounds", 1), lab.Int("queries", 500), lab.Int("keys, log2", 9), lab.Int("points per doubling", 2), lab.Int("doublings", 3),
			lab.Int("initial size, log2", 11), lab.Ints("sizes, log2", 12, 15), lab.Ints("slots", 4, 8), lab.Ints("branches", 1, 3),
			lab.Floats("peaks", 1, 4), lab.Ints("queries of each sort", 2, 32), lab.Ints("entries", 200, 2_000),
		},
		[]string{"ebf21/uses", "ebf21/operations", "ebf21/formulas", "ebf21/expansions", "ebf21/fig3", "ebf21/fig9"},
	},
	{ // claims on evergreen/size begin with 200,000 keys
		growth.Experiments()[:1], lab.Params{lab.Int("most keys", 200_000), lab.Int("sizes", 3), lab.Int("queries", 500)}, nil,
	},
	{
		growth.Experiments()[1:],
		lab.Params{
			lab.Int("most keys", 64_000), lab.Int("sizes", 5), lab.Int("queries", 500), lab.Int("keys", 8_000),
			lab.Int("lasting keys", 2_000), lab.Int("passing keys", 15_000), lab.Int("rounds", 2),
		},
		[]string{"evergreen/asked", "perennial/size", "all/growing"},
	},
	{
		field.Experiments(),
		lab.Params{lab.Int("keys", 1_000), lab.Int("queries", 1_000), lab.Int("trials", 3), lab.Int("turns", 2), lab.Int("rounds", 2), lab.Int("universe", 5_000)},
		[]string{"all/abilities", "field/zipf"},
	},
	{cluster.Experiments(), lab.Params{lab.Ints("nodes", 3, 30, 300)}, nil},
}

func TestClaims(t *testing.T) { tryClaims(t, All()) }

func TestTrialsDoNotRace(t *testing.T) {
	tried := 0
	for _, g := range groups {
		tryBriefly(t, g.list, g.brief)
		tried += len(g.list)
	}
	if tried != len(All()) {
		t.Errorf("%d of %d experiments are in a group", tried, len(All()))
	}
}

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	for _, g := range groups {
		list := slices.DeleteFunc(slices.Clone(g.list), func(x lab.Experiment) bool { return !slices.Contains(g.seeded, x.ID) })
		if len(list) != len(g.seeded) {
			t.Errorf("%q: there are only %d", g.seeded, len(list))
		}
		if len(list) > 0 {
			trySeeds(t, list, g.brief)
		}
	}
}

func TestRunsStopWhenInterrupted(t *testing.T) { tryInterrupted(t, All()) }

// tryClaims runs the quick variants. Claims without a reason must hold, those with one
// must differ, unless the run cannot tell. The short form is what tryBriefly does.
func tryClaims(t *testing.T, list []lab.Experiment) {
	t.Helper()
	if effort.Brief() {
		t.Skip("make check runs them with the tool: everbloom lab run all --strict")
	}
	for _, x := range list {
		t.Run(x.ID, func(t *testing.T) {
			result := do(t, x, &lab.Env{Params: x.Params, Seed: seed})
			compare(t, x.Claims, result.Checks)
		})
	}
}

// compare reports checks that differ without a reason, or hold with one.
func compare(tb testing.TB, claims []lab.Claim, checks []lab.Check) {
	tb.Helper()
	for _, c := range checks {
		explained := slices.ContainsFunc(claims, func(claim lab.Claim) bool { return claim.Name == c.Name && claim.Why != "" })
		if c.Unexpected() || c.Verdict == lab.Reproduced && explained {
			tb.Errorf("seed %d: %s: %s, known to differ: %t; printed %s, ours %s, tolerance %s: %s",
				seed, c.Name, c.Verdict, explained, c.Printed, c.Ours, c.Tolerance, c.Reason)
		}
	}
}

const seed = 1

// do runs an experiment and draws its plots.
func do(t *testing.T, x lab.Experiment, e *lab.Env) *lab.Result {
	t.Helper()
	result, err := x.Do(t.Context(), e)
	if err != nil {
		t.Fatalf("seed %d: %v", e.Seed, err)
	}
	for _, p := range result.Plots {
		if _, err := draw.SVG(p); err != nil {
			t.Error(err)
		}
	}
	return result
}

// tryBriefly runs the quick variants with other values for some parameters, so that they
// take little time, and with several workers, for the race detector. So few keys say
// nothing about rates: all that must hold is that the runs succeed, that their plots
// can be drawn, and that what may never happen has not: checks named "no ...". Under
// the race detector the short form runs a third of the list, another in each run.
func tryBriefly(t *testing.T, list []lab.Experiment, brief lab.Params) {
	t.Helper()
	for _, name := range unused(list, brief) {
		t.Errorf("no experiment has the parameter %q", name)
	}
	for i := range effort.Positions(t, len(list), 0, min(len(list), effort.PickVariant(3, 1, 1))) {
		x := list[i]
		t.Run(x.ID, func(t *testing.T) {
			result := do(t, x, &lab.Env{Params: replace(x.Params, brief), Seed: seed, Workers: 3})
			never(t, result.Checks)
		})
	}
}

// never reports what has happened and must not at any size.
func never(tb testing.TB, checks []lab.Check) {
	tb.Helper()
	for _, c := range checks {
		if strings.HasPrefix(c.Name, "no ") && c.Verdict == lab.Differs {
			tb.Errorf("seed %d: %s: %s", seed, c.Name, c.Ours)
		}
	}
}

// trySeeds checks that equal seeds give equal checks, however many workers there are,
// and that another seed gives others in at least one experiment. It is for those that
// measure no times. Parameters are as in tryBriefly, which looks for races.
func trySeeds(t *testing.T, list []lab.Experiment, brief lab.Params) {
	t.Helper()
	effort.OneGoroutine(t)
	moved := false
	for _, x := range list {
		run := func(seed uint64, workers int) []lab.Check {
			return do(t, x, &lab.Env{Params: replace(x.Params, brief), Seed: seed, Workers: workers}).Checks
		}
		one := run(seed, 1)
		if !slices.Equal(one, run(seed, 4)) {
			t.Errorf("%s: four workers find something else than one", x.ID)
		}
		moved = moved || !slices.Equal(one, run(seed+1, 1))
	}
	if !moved {
		t.Error("the seed makes no difference")
	}
}

// replace returns the parameters with new values for those of the same name and
// type.
func replace(params, brief lab.Params) lab.Params {
	out := slices.Clone(params)
	for i, p := range out {
		if j := slices.IndexFunc(brief, func(b lab.Param) bool { return alike(p, b) }); j >= 0 {
			out[i] = brief[j]
		}
	}
	return out
}

func alike(p, q lab.Param) bool {
	return p.Name == q.Name && reflect.TypeOf(p.Value) == reflect.TypeOf(q.Value)
}

// unused returns the names in brief that replace nothing.
func unused(list []lab.Experiment, brief lab.Params) (names []string) {
	for _, b := range brief {
		has := func(x lab.Experiment) bool {
			return slices.ContainsFunc(x.Params, func(p lab.Param) bool { return alike(p, b) })
		}
		if !slices.ContainsFunc(list, has) {
			names = append(names, b.Name)
		}
	}
	return names
}

// tryInterrupted checks that every experiment ends when it is interrupted.
func tryInterrupted(t *testing.T, list []lab.Experiment) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, x := range list {
		if _, err := x.Do(ctx, &lab.Env{Params: x.Params}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", x.ID, err)
		}
	}
}
