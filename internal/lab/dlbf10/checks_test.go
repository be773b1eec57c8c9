package dlbf10

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func estimate(mean float64) lab.Estimate { return lab.Estimate{Mean: mean, Deviation: 0.1, N: 2_000} }

func TestFalseNegativesAreSeen(t *testing.T) {
	labtest.Reproduced(t, noneDenied(0, 1_000_000))
	labtest.Differs(t, noneDenied(1, 1_000_000))
	// A filter whose bits are lost denies keys, and deleteAll must notice.
	r := rand.New(rand.NewPCG(1, 1))
	keys := lab.RandomKeys(r, 60)
	s := deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}
	f, err := filled(s, keys)
	if err != nil {
		t.Fatal(err)
	}
	raw := f.AppendRaw(nil)
	for i := 8; i < len(raw); i++ {
		raw[i] = 0
	}
	broken, err := deletable.FromRaw(s, raw)
	if err != nil {
		t.Fatal(err)
	}
	if o := deleteAll(broken, keys); o.denied == 0 {
		t.Errorf("%+v", o)
	}
}

func TestAroundMeansTheNearestTen(t *testing.T) {
	for value, want := range map[float64]lab.Verdict{0.84: lab.Differs, 0.86: lab.Reproduced, 0.94: lab.Reproduced, 0.96: lab.Differs} {
		if c := around("x", "around 90 %", 0.9, lab.Estimate{Mean: value, N: 1}); c.Verdict != want {
			t.Errorf("%v: %+v", value, c)
		}
	}
	if c := around("x", "around 90 %", 0.9, estimate(0.845)); c.Verdict != lab.Reproduced || !strings.Contains(c.Tolerance, "standard errors") {
		t.Errorf("the noise of a measurement is not allowed for: %+v", c)
	}
}

func TestDirectionsAreSeen(t *testing.T) {
	rises, falls := directions([][]float64{{0.5, 0.9}, {0.4, 0.8}})
	labtest.Reproduced(t, rises)
	labtest.Reproduced(t, falls)
	rises, falls = directions([][]float64{{0.5, 0.9}, {0.6, 0.3}})
	labtest.Differs(t, rises)
	labtest.Differs(t, falls)
}

// fakeSweep is fig3 with what theory says, or a bit off.
func fakeSweep(off float64) *sweep {
	w := &sweep{keys: []int{16, 22, 28}}
	for _, r := range []uint64{12, 24, 60, 120} {
		s := deletable.Shape{Bits: 240, Hashes: 5, Regions: r}
		w.shapes = append(w.shapes, s)
		var row []lab.Estimate
		for i, n := range w.keys {
			row = append(row, estimate(numbersOf(s, n).conditioned()+off*float64(i+1)))
		}
		w.found = append(w.found, row)
	}
	return w
}

func TestFig3ChecksSeeSpoiltShares(t *testing.T) {
	good, high := fakeSweep(0), fakeSweep(0.2)
	for _, c := range good.checks() {
		if c.Unexpected() {
			t.Errorf("%+v", c)
		}
	}
	for _, c := range []lab.Check{high.checks()[0], high.lower(), high.shape()} {
		labtest.Differs(t, c)
	}
	worse := fakeSweep(0)
	worse.found[3][1] = estimate(0.99) // r = 120 better than r = 60
	labtest.Differs(t, worse.doubling())
	worse.found[3][1] = estimate(0.9999)
	labtest.Differs(t, worse.noteworthyPinned())
}

func TestFig4ChecksSeeSpoiltRates(t *testing.T) {
	small := func(mean float64) lab.Estimate { return lab.Estimate{Mean: mean, Deviation: 0.005, N: 2_000} }
	good := ratePoint{n: 22, before: small(0.0103), after: small(0.001), standard: small(0.0069), eq2: 0.0102, classic: 0.0068, exact: 0.0104, exactStandard: 0.0069}
	for _, c := range rateChecks([]ratePoint{good}) {
		if c.Verdict == lab.Differs {
			t.Errorf("%+v", c)
		}
	}
	bad := good
	bad.before, bad.after, bad.standard = small(0.02), small(0.012), small(0.0085)
	for i, c := range rateChecks([]ratePoint{bad})[:5] {
		if i != 2 { // Eq. (2) is only shown
			labtest.Differs(t, c)
		}
	}
}

func TestHashChecksSeeAHashThatIsBad(t *testing.T) {
	v := numbersOf(deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, 22)
	ways := make([]hashing, 5)
	for i := range ways {
		ways[i].found = estimate(0.80)
	}
	ways[1].found = estimate(0.75)
	ways[3].found = estimate(v.eq1()) // as the paper would have it
	checks := hashChecks(ways, v)
	labtest.Reproduced(t, checks[1])
	labtest.Reproduced(t, checks[2])
	labtest.Differs(t, checks[3])
	labtest.Differs(t, checks[5])
	labtest.Reproduced(t, literalInsert(estimate(0.79), 0.7875))
	labtest.Differs(t, literalInsert(estimate(0.80), 0.7875))
	labtest.Differs(t, resetBits([]outcome{{set: 80, cleared: 60}, {set: 80, cleared: 61}}, v))
}

func TestR4ChecksSeeSpoiltFilters(t *testing.T) {
	e := &lab.Env{Params: r4.Quick}
	list, err := contenders(e)
	if err != nil {
		t.Fatal(err)
	}
	found := make([]trialMeans, len(list))
	for i, c := range list {
		found[i].before = lab.Estimate{Mean: c.rate, Deviation: c.rate / 100, N: 10}
		found[i].deleted = estimate(0.9)
	}
	found[len(list)-1].denied = estimate(0.1)
	for _, c := range r4Checks(list, found, 2_000) {
		if c.Verdict == lab.Differs {
			t.Errorf("%+v", c)
		}
	}
	found[0].before.Mean *= 1.1
	found[2].denied = estimate(0.001)
	found[len(list)-1].denied = lab.Estimate{N: 10}
	list[1].rate *= 3
	checks := r4Checks(list, found, 2_000)
	for _, i := range []int{0, 1, 8, 9, 10} {
		labtest.Differs(t, checks[i])
	}
}

func TestLifeChecksSeeAFilterThatDoesNotWear(t *testing.T) {
	l := &life{shape: sized(1000, 5, 16, 10), n: 1000, every: 1}
	l.state = []report{
		{deletable: estimate(0.96), clean: estimate(0.6), rate: estimate(0.01)},
		{deletable: estimate(0.97), clean: estimate(0.6), rate: estimate(0.01)},
	}
	for _, c := range lifeChecks([]*life{l}) {
		labtest.Differs(t, c)
	}
}

func TestChoicesAreSeenToBeUseless(t *testing.T) {
	flat := []lab.Estimate{estimate(0.01), estimate(0.01)}
	s := deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}
	success := make([]lab.Series, 3)
	for i := range success {
		success[i].Points = []lab.Point{{X: 1, Y: 0.4}, {X: 4, Y: 0.4}}
	}
	checks := choiceChecks([]int{1, 4}, flat, flat, success, s, 22)
	labtest.Differs(t, checks[0])
	if !strings.Contains(checks[1].Ours, "none") {
		t.Errorf("%+v", checks[1])
	}
}

func TestSignaturesDenyOthers(t *testing.T) {
	f := newSignatures(1000, 5)
	keys := lab.RandomKeys(rand.New(rand.NewPCG(3, 3)), 100)
	if _, _, err := filter.AddBatch(f, keys); err != nil {
		t.Fatal(err)
	}
	if lab.YesShare(f, keys) != 1 {
		t.Error("a key is denied before anything is deleted")
	}
	if fill := f.Info().Fill; fill < 0.3 || fill > 0.5 {
		t.Errorf("fill %v", fill)
	}
	for _, k := range keys[:50] {
		_ = f.Delete(k) // may be denied already
		if f.MayContain(k) {
			t.Error("a deleted key is still there")
		}
	}
	if lab.YesShare(f, keys[50:]) == 1 {
		t.Error("no other key is denied")
	}
	if err := f.Delete(keys[0]); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting twice: %v", err)
	}
}

// The ideal filter and the real one are the same experiment.
func TestIdealTrialsAgreeWithTheFilter(t *testing.T) {
	s := deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}
	var ideal, found []outcome
	r := rand.New(rand.NewPCG(5, 5))
	for range 2_000 {
		ideal = append(ideal, idealTrial(r, s, 22, false))
		o, err := addAndDelete(s, lab.RandomKeys(r, 22))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, o)
	}
	a, b := lab.Figure(ideal, deletableShare), lab.Figure(found, deletableShare)
	if d := a.Mean - b.Mean; d > lab.Spread(a, b) || -d > lab.Spread(a, b) {
		t.Errorf("ideal %v, filter %v", a, b)
	}
}

// One cell and one hit, two cells and two hits, and the paper's filter against
// simulation.
func TestExactRate(t *testing.T) {
	for _, c := range []struct {
		cells, k, n int
		want        float64
	}{{1, 1, 1, 1}, {5, 3, 0, 0}, {2, 1, 2, 0.75}, {2, 2, 1, (0.5*0.25 + 0.5*1)}} {
		if got := exactRate(c.cells, c.k, c.n); !near(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	r := rand.New(rand.NewPCG(9, 9))
	fills := make([]float64, 20_000)
	for i := range fills {
		f, err := filled(deletable.Shape{Bits: 240, Hashes: 5, Regions: 24}, lab.RandomKeys(r, 22))
		if err != nil {
			t.Fatal(err)
		}
		fills[i] = f.Info().FPR
	}
	if got := lab.Mean(fills); !got.Within(exactRate(216, 5, 22), lab.Sigmas) {
		t.Errorf("simulated %v, exact %v", got, exactRate(216, 5, 22))
	}
}

func TestDeviationIsAtLeastRandom(t *testing.T) {
	flat := lab.Estimate{Mean: 1, N: 10}
	if got := atLeastRandom(flat, 0.99, 100).Deviation; got < 0.0099 || got > 0.01 {
		t.Errorf("deviation %v", got)
	}
	if got := atLeastRandom(estimate(0.5), 0.5, 1_000_000).Deviation; got != 0.1 {
		t.Errorf("deviation %v", got)
	}
}
