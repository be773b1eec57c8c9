package sum

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var small = bloom.Shape{Bits: 9_586, Hashes: 7} // 1,000 keys at 1 %

func TestMethodsHaveTheBitsTheySay(t *testing.T) {
	for _, m := range methods(small) {
		f, err := m.build()
		if err != nil {
			t.Fatal(err)
		}
		// Memory comes in words of 64 bits.
		if got := f.Info().FastBits; got < m.bits || got > m.bits+256 {
			t.Errorf("%s: %d bits, says %d", m.name, got, m.bits)
		}
	}
	for _, m := range methodsOf(24_000, 1000) {
		if m.bits != 24_000 {
			t.Errorf("%s: %d bits of 24000", m.name, m.bits)
		}
	}
	for _, m := range methods(bloom.Shape{}) {
		if _, err := m.build(); err == nil {
			t.Errorf("%s without bits", m.name)
		}
		if _, _, err := m.compareBits(nil, nil); err == nil {
			t.Errorf("%s compared without bits", m.name)
		}
	}
}

// Counters must leave what a filter without the deleted keys has; the array more.
func TestCompareBits(t *testing.T) {
	keys := lab.RandomKeys(rand.New(rand.NewPCG(1, 1)), 1000)
	list := methods(small)
	for i, m := range list {
		f, err := m.build()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := filter.AddBatch(f, keys); err != nil {
			t.Fatal(err)
		}
		if ratio, differ, err := m.compareBits(f, keys); err != nil || ratio != 1 || differ != 0 {
			t.Errorf("%s: ratio %v, %d bits differ, %v before anything is deleted", m.name, ratio, differ, err)
		}
		if _, _, _, err := filter.DeleteBatch(f, keys[:500]); err != nil {
			t.Fatal(err)
		}
		ratio, differ, err := m.compareBits(f, keys[500:])
		if err != nil || (ratio == 1) != (m.name == "counters") || differ != 0 {
			t.Errorf("%d %s: ratio %v, %d bits differ, %v", i, m.name, ratio, differ, err)
		}
	}
	// A filter that lost a key's bits must be seen.
	f, _ := list[1].build()
	if _, _, err := filter.AddBatch(f, keys[:999]); err != nil {
		t.Fatal(err)
	}
	if _, differ, _ := list[1].compareBits(f, keys); differ == 0 {
		t.Error("a missing key is not seen")
	}
}

func TestPairDeniesWhatWasDeleted(t *testing.T) {
	p, err := buildPair(small)
	if err != nil {
		t.Fatal(err)
	}
	var _ filter.Deleter = p
	if err := p.Delete(1); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting an absent key: %v", err)
	}
	if _, err := p.Add(1); err != nil || !p.MayContain(1) {
		t.Errorf("%v: the key is not there", err)
	}
	if err := p.Delete(1); err != nil || p.MayContain(1) {
		t.Errorf("%v: the key is still there", err)
	}
	if _, err := p.Add(1); err != nil || p.MayContain(1) {
		t.Error("the key came back")
	}
	if info := p.Info(); info.FastBits < 2*small.Bits || info.Fill == 0 {
		t.Errorf("%+v", info)
	}
	if _, err := comeBack(&lab.Env{Params: deletion.Quick}, bloom.Shape{}); err == nil {
		t.Error("a pair without bits")
	}
}

// fakeMistakes is what the three methods should do with half of the keys deleted.
func fakeMistakes() []meanMistakes {
	at := func(mean float64) lab.Estimate { return lab.Estimate{Mean: mean, Deviation: 0.001, N: 100} }
	return []meanMistakes{
		{leftover: at(0.01), setBits: at(1.12)},
		{leftover: at(0.0003), setBits: at(1)},
		{denied: at(0.00025), setBits: at(1.7), deniedKeys: 250, askedKeys: 1_000_000},
	}
}

func TestDeletionChecksSeeSpoiltFilters(t *testing.T) {
	list := methods(small)
	verdicts := func(found []meanMistakes) (out []lab.Verdict) {
		for _, c := range equalChecks(small, 0.01, list, found, 1000) {
			out = append(out, c.Verdict)
		}
		return out
	}
	for i, v := range verdicts(fakeMistakes()) {
		if (v == lab.Differs) != (i == 5) { // the errors of the second filter are fewer
			t.Errorf("check %d: %s", i, v)
		}
	}
	bad := fakeMistakes()
	bad[0].denied.Mean = 0.001
	bad[0].setBits.Mean = 1
	bad[1].differ = 3
	bad[0].deniedKeys = 2000
	bad[2].deniedKeys = 1000
	for i, v := range verdicts(bad)[:5] {
		if v != lab.Differs {
			t.Errorf("spoilt, check %d: %s", i, v)
		}
	}
	list[2].bits++
	if c := equalChecks(small, 0.01, list, fakeMistakes(), 1000)[7]; c.Verdict != lab.Differs {
		t.Errorf("%+v", c)
	}
}

func TestGreaterPossibilityIsShownIfChanceMayGiveNone(t *testing.T) {
	at := func(denied, asked int) lab.Verdict {
		return greaterPossibility("x", meanMistakes{deniedKeys: denied, askedKeys: asked}, meanMistakes{askedKeys: asked}, 0.00025).Verdict
	}
	if at(0, 10_000) != lab.Shown || at(25, 100_000) != lab.Reproduced || at(0, 100_000) != lab.Differs {
		t.Errorf("%s, %s, %s", at(0, 10_000), at(25, 100_000), at(0, 100_000))
	}
}

func TestChurnChecksSeeAnArrayThatDenies(t *testing.T) {
	state := func(denied, leftover float64) meanMistakes {
		return meanMistakes{denied: lab.Estimate{Mean: denied, N: 10}, leftover: lab.Estimate{Mean: leftover, N: 10}}
	}
	all := [][]meanMistakes{
		{state(0, 0), state(0, 0.01), state(0, 0.02)},
		{state(0, 0), state(0, 0.001), state(0, 0.001)},
		{state(0, 0), state(0.001, 0), state(0.1, 0)},
	}
	checks := churnChecks(2, methods(small), all)
	if last := checks[len(checks)-1]; last.Verdict != lab.Reproduced || !strings.Contains(last.Name, "after 1 turnovers") {
		t.Errorf("%+v", last)
	}
	if !strings.Contains(checks[0].Ours, "from 1 turnovers") {
		t.Errorf("%+v", checks[0])
	}
	all[0][2] = state(0.001, 0.02)
	checks = churnChecks(2, methods(small), all)
	if last := checks[len(checks)-1]; last.Verdict != lab.Differs {
		t.Errorf("%+v", last)
	}
}
