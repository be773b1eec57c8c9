package ebf21

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// Checks that nothing could make differ are worth nothing: here each gets numbers
// that contradict the paper, and numbers that agree with it.

// verdicts compares the verdict of each check whose name begins as a key does.
func verdicts(t *testing.T, checks []lab.Check, want map[string]lab.Verdict) {
	t.Helper()
	for begin, verdict := range want {
		found := false
		for _, c := range checks {
			if strings.HasPrefix(c.Name, begin) {
				found = true
				if c.Verdict != verdict {
					t.Errorf("%s: %s, want %s: ours %s", c.Name, c.Verdict, verdict, c.Ours)
				}
			}
		}
		if !found {
			t.Errorf("no check begins with %q", begin)
		}
	}
}

// counted makes samples with the given rates.
func counted(rates ...float64) []sampled {
	const queries = 1_000_000
	out := make([]sampled, len(rates))
	for i, rate := range rates {
		out[i] = sampled{keys: 1000, yes: int(rate * queries), queries: queries, rate: lab.Estimate{Mean: rate, N: 10}, fast: 10}
	}
	return out
}

func TestFig3SeesWhoIsBest(t *testing.T) {
	peaks := []float64{0.5, 1, 2, 4}
	good := func() map[string][]sampled {
		return map[string][]sampled{
			"standard": counted(1e-4, 1e-3, 1e-2, 0.1), "DBF": counted(1e-4, 3e-4, 6e-4, 12e-4), "SBF": counted(1e-4, 3e-4, 5e-4, 7e-4),
			"EBF": counted(1e-4, 1e-4, 3e-4, 1e-4), "scalable": counted(1e-4, 1e-4, 1e-4, 1e-4),
		}
	}
	for name, spoil := range map[string]func(map[string][]sampled){
		"":                                 func(map[string][]sampled) {},
		"the standard filter is the worst": func(r map[string][]sampled) { r["DBF"] = counted(1e-4, 3e-4, 2e-2, 0.5) },
		"DBF keeps increasing":             func(r map[string][]sampled) { r["DBF"] = counted(1e-4, 6e-4, 5e-4, 4e-4) },
		"SBF keeps increasing":             func(r map[string][]sampled) { r["SBF"] = counted(1e-4, 5e-4, 5e-4, 5e-4) },
		"EBF has a lower rate than DBF":    func(r map[string][]sampled) { r["EBF"] = counted(1e-4, 5e-4, 1e-4, 1e-4) },
		"EBF has a lower rate than SBF":    func(r map[string][]sampled) { r["EBF"] = counted(1e-4, 1e-4, 7e-4, 1e-4) },
		"EBF's rate stays below":           func(r map[string][]sampled) { r["EBF"] = counted(1e-4, 5e-4, 5e-4, 5e-4) },
	} {
		rates := good()
		spoil(rates)
		checks := fig3Checks(peaks, rates)
		if name != "" {
			verdicts(t, checks, map[string]lab.Verdict{name: lab.Differs})
			continue
		}
		for _, c := range checks {
			if c.Verdict == lab.Differs {
				t.Errorf("good numbers: %s: %s", c.Name, c.Ours)
			}
		}
	}
	// What happens before the relative peak data size 1 is no part of the claims.
	rates := good()
	rates["EBF"][0] = counted(0.5)[0]
	verdicts(t, fig3Checks(peaks, rates), map[string]lab.Verdict{"EBF has a lower rate than DBF": lab.Reproduced})
}

func TestFig3ComparesTheFormula(t *testing.T) {
	s := counted(0.5, 0.0013926)
	s[1].keys, s[1].rate.Deviation = 1<<14, 1e-5
	if c := formulaCheck(peakSize, []float64{0.5, 1}, s); c.Verdict != lab.Reproduced {
		t.Errorf("%+v", c)
	}
	s[1].rate.Mean = 0.0015
	if c := formulaCheck(peakSize, []float64{0.5, 1}, s); c.Verdict != lab.Differs {
		t.Errorf("%+v", c)
	}
	if c := formulaCheck(peakSize, []float64{0.5, 2}, s); c.Verdict != lab.Shown {
		t.Errorf("%+v", c)
	}
}

func TestFig4SeesWhoIsBest(t *testing.T) {
	xs := []float64{12, 14, 20} // 2^20 bits take 10,000 keys without growing
	rates := map[string][]sampled{"EBF": counted(1e-4, 1e-4, 1e-5), "DBF": counted(0.1, 1e-3, 1e-5), "SBF": counted(1e-3, 5e-4, 1e-5), "scalable": counted(1e-5, 1e-5, 1e-5)}
	for _, c := range fig4Checks(xs, rates, 10_000) {
		if c.Verdict == lab.Differs {
			t.Errorf("good numbers: %s: %s", c.Name, c.Ours)
		}
	}
	rates["DBF"] = counted(0.1, 1e-4, 1e-5) // no better where it has to be
	rates["SBF"] = counted(1e-3, 5e-4, 1e-6)
	rates["EBF"] = counted(1e-4, 1e-3, 1e-4)
	verdicts(t, fig4Checks(xs, rates, 10_000), map[string]lab.Verdict{"EBF against": lab.Differs, "EBF's rate does not depend": lab.Differs})
}

func TestFig8aCountsStages(t *testing.T) {
	stages := []stage{{0, 10, 1, 1, 1, 1}, {1, 20, 2, 2, 2, 2}, {2, 40, 8, 8, 8, 8}}
	verdicts(t, fig8aChecks(stages, 4, 2), map[string]lab.Verdict{"EBF takes less": lab.Reproduced, "CBF takes less": lab.Reproduced})
	verdicts(t, fig8aChecks(stages, 1.5, 2), map[string]lab.Verdict{"EBF takes less": lab.Differs, "CBF takes less": lab.Reproduced})
	verdicts(t, fig8aChecks(stages, 100, 2), map[string]lab.Verdict{"EBF takes less": lab.Reproduced, "CBF takes less": lab.Differs})
	for _, c := range fig8aChecks(stages, 4, 10) {
		if strings.HasPrefix(c.Name, "CBF") {
			t.Errorf("a trace that is too short says nothing about the maximum: %s", c.Name)
		}
	}
}

func TestFig9SeesTheTrends(t *testing.T) {
	xs, branches := []int{8, 10}, []int{1, 3}
	at := func(x, b int) bucketing { return bucketing{x, 8, b} }
	load := func(mean float64) lab.Estimate { return lab.Estimate{Mean: mean, Deviation: 0.01, N: 20} }
	found := loads{at(8, 1): load(0.3), at(8, 3): load(0.6), at(10, 1): load(0.2), at(10, 3): load(0.5)}
	const size, tree = "the load rate falls with the size", "the load rate rises with the branches"
	verdicts(t, fig9Checks(xs, branches, true, at, found), map[string]lab.Verdict{size: lab.Reproduced, tree: lab.Reproduced, "load rate": lab.Differs})
	verdicts(t, fig9Checks(xs, branches, false, at, found), map[string]lab.Verdict{"the load rate rises with the bucket size": lab.Differs})
	found[at(10, 1)] = load(0.7)
	verdicts(t, fig9Checks(xs, branches, true, at, found), map[string]lab.Verdict{size: lab.Differs, tree: lab.Differs})
	delete(found, at(10, 1))
	verdicts(t, fig9Checks(xs, branches, true, at, found), map[string]lab.Verdict{size: lab.Reproduced, tree: lab.Reproduced})
	if c := fig9Checks(xs, branches, true, at, loads{})[0]; c.Verdict != lab.Differs {
		t.Errorf("nothing measured: %+v", c)
	}
}

func TestTheorem42SeesResizesThatAreTooClose(t *testing.T) {
	events := []resize{{1000, 1000, true}, {2000, 2000, true}, {3100, 900, false}}
	const worst, moved = "the largest n_i", "keys that are moved"
	verdicts(t, theorem42Checks(events, 4000), map[string]lab.Verdict{worst: lab.Reproduced, moved: lab.Reproduced, "p = ": lab.Differs})
	events[1].change = 1700 // 2000 keys after 700 changes
	verdicts(t, theorem42Checks(events, 900), map[string]lab.Verdict{worst: lab.Differs, moved: lab.Differs})
	inside := []resize{{1000, 1000, true}, {2000, 1900, true}, {3100, 1100, false}}
	verdicts(t, theorem42Checks(inside, 4000), map[string]lab.Verdict{"p = ": lab.Reproduced})
}

func TestTable1SeesARateThatDoesNotFall(t *testing.T) {
	full := int(fullKeys(tableSize))
	one := func(keys, before, lazy, after int) [][]expansion {
		var trials [][]expansion
		for i := range 20 {
			d := i%3 - 1
			trials = append(trials, []expansion{{keys + i%3, 0.2, 1e6, before + 4*d, lazy - 3*d, after + d}})
		}
		return trials
	}
	const falls, update = "expansions that lower the rate", "the lazy update"
	verdicts(t, table1Checks(tableSize, one(full-1, 320, 320, 13)), map[string]lab.Verdict{
		falls: lab.Reproduced, update: lab.Reproduced, "keys at": lab.Reproduced, "rate": lab.Reproduced, "parameters": lab.Reproduced,
	})
	verdicts(t, table1Checks(tableSize, one(full+100, 500, 1000, 500)), map[string]lab.Verdict{
		falls: lab.Differs, update: lab.Differs, "keys at": lab.Differs, "rate": lab.Differs,
	})
	// Few yeses, and the same in all trials: nothing but chance.
	verdicts(t, table1Checks(tableSize, [][]expansion{{{full, 0.2, 1e5, 32, 32, 2}}, {{full, 0.2, 1e5, 32, 32, 2}}}), map[string]lab.Verdict{"rate": lab.Reproduced})
	spoilt := tableShape(tableSize, 0)
	spoilt.Slots = 7
	if c := parametersCheck(spoilt); c.Verdict != lab.Differs {
		t.Errorf("7 slots: %+v", c)
	}
}

func TestOperationsSeeDamage(t *testing.T) {
	const n, queries = 4000, 1000
	due := 0.05129329438755058 * (1 << 17) / tableHashes // -ln(1 - 0.05) m/k
	good := deeds{cardinality: n, common: n / 4, union: n + n/4, leftSize: 1 << 10, compressedAt: due, compressedFrom: 1 << 17, yes: 3}
	for _, c := range operationChecks([]deeds{good, good}, n, queries) {
		if c.Verdict == lab.Differs && !c.Known {
			t.Errorf("good numbers: %s: %s", c.Name, c.Ours)
		}
	}
	bad := good
	bad.denied, bad.duplicates, bad.cardinality, bad.leftFill, bad.absentDeleted, bad.mistaken, bad.common = 1, 1, n-1, 0.01, 1, 1, n/4-1
	bad.compressedAt = 2 * due
	verdicts(t, operationChecks([]deeds{good, bad}, n, queries), map[string]lab.Verdict{
		"keys in the set that were denied": lab.Differs, "keys whose fingerprints": lab.Differs, "cardinality of a set": lab.Differs, "bits left": lab.Differs,
		"absent keys": lab.Differs, "keys at the first compression": lab.Differs, "mistakes": lab.Differs, "keys of both operands": lab.Differs,
	})
}

func TestFormulasSeeOverflows(t *testing.T) {
	verdicts(t, boundChecks([]int{47, 0, 0}, 50), map[string]lab.Verdict{"Eq. (3), left": lab.Reproduced, "overflows with 3": lab.Reproduced, "overflows with Table 1": lab.Reproduced})
	verdicts(t, boundChecks([]int{10, 40, 0}, 50), map[string]lab.Verdict{"overflows with 3": lab.Differs, "overflows with Table 1": lab.Differs})
	verdicts(t, boundChecks([]int{0, 0, 0}, 50), map[string]lab.Verdict{"overflows with that D": lab.Reproduced})
}
