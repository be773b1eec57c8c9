package ebf21

import (
	"maps"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestSpeedChecksJudgeTheDirection(t *testing.T) {
	at := []float64{1, 2}
	for _, c := range []struct {
		times  []float64
		slower bool
		want   lab.Verdict
	}{
		{[]float64{1.5, 2}, false, lab.Reproduced},
		{[]float64{1.5, 0.9}, false, lab.Differs},
		{[]float64{0.5, 0.9}, true, lab.Reproduced},
		{[]float64{0.5, 1.1}, true, lab.Differs},
		{nil, false, lab.Shown},
	} {
		got := speedCheck{name: "name", claim: "claim", at: at, times: c.times, slower: c.slower}.check()
		if got.Verdict != c.want || got.Unexpected() || c.want != lab.Shown && !strings.Contains(got.Tolerance, "a timing") {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

// A reason is good for ratios near 1, not for a total reversal.
func TestSpeedChecksExplainNoMoreThanTheyReach(t *testing.T) {
	for _, c := range []struct {
		times  float64
		slower bool
		want   bool
	}{{0.9, false, true}, {0.3, false, false}, {0.01, false, false}, {1.9, true, true}, {2.1, true, false}} {
		got := speedCheck{name: "name", claim: "claim", at: []float64{1}, times: []float64{c.times}, slower: c.slower, reason: "why", reach: 2}.check()
		if got.Verdict != lab.Differs || (got.Reason == "why") != c.want || !got.Timing {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

// speeds makes rounds in which EBF takes the given time and every other contender 100 ns.
func speeds(work string, ebf float64) rounds {
	r := rounds{}
	for _, chosen := range []string{"DBF", evenDBF, "SBF", "scalable", "Par-BF", "EBF, 16 shards"} {
		r[lap{chosen, work}] = []float64{100, 100, 100}
	}
	r[lap{"EBF", work}] = []float64{ebf, ebf, ebf}
	return r
}

func merged(all ...rounds) rounds {
	out := rounds{}
	for _, r := range all {
		maps.Copy(out, r)
	}
	return out
}

func TestFig5JudgesEveryOperation(t *testing.T) {
	peaks := []float64{1, 32}
	paper := merged(speeds(insertion, 900), speeds(present, 20), speeds(absent, 20), speeds(deletion, 50))
	longer := merged(paper)
	for _, work := range []string{absent, deletion} {
		longer[lap{"DBF", work}] = []float64{200, 200, 200}
	}
	verdicts(t, fig5Checks(peaks, []rounds{paper, paper}), map[string]lab.Verdict{"what a DBF needs": lab.Differs})
	for _, c := range fig5Checks(peaks, []rounds{paper, longer}) {
		if c.Verdict == lab.Differs {
			t.Errorf("as in the paper: %s: %s", c.Name, c.Ours)
		}
	}
	other := merged(speeds(insertion, 50), speeds(present, 200), speeds(absent, 200), speeds(deletion, 500))
	verdicts(t, fig5Checks(peaks, []rounds{paper, other}), map[string]lab.Verdict{insertion: lab.Differs, present: lab.Differs, absent: lab.Differs, deletion + ",": lab.Differs})
	// Slow deletion is part of the claim up to a relative peak data size of 16.
	verdicts(t, fig5Checks(peaks, []rounds{other, paper}), map[string]lab.Verdict{deletion + ",": lab.Reproduced})
	if c := crossing(peaks, []rounds{other, paper}, "DBF"); !strings.Contains(c.Ours, "of 32 on") {
		t.Errorf("%+v", c)
	}
}

func TestFig6JudgesTheLead(t *testing.T) {
	ratios, peaks := []int{2, 8}, []float64{1, 16}
	mixes := func(few, many float64) rounds {
		return merged(speeds(mixed(2, 1), few), speeds(mixed(2, 16), few), speeds(mixed(8, 1), many), speeds(mixed(8, 16), many))
	}
	const slower, slight, gains, fastest = "1:2:2 below", "at 1:2:2 EBF is only", "with more queries", "EBF is the fastest"
	verdicts(t, fig6Checks(ratios, peaks, mixes(110, 50)), map[string]lab.Verdict{slower: lab.Reproduced, slight: lab.Reproduced, gains: lab.Reproduced, fastest: lab.Reproduced})
	verdicts(t, fig6Checks(ratios, peaks, mixes(900, 950)), map[string]lab.Verdict{slower: lab.Reproduced, slight: lab.Differs, gains: lab.Differs, fastest: lab.Differs})
	verdicts(t, fig6Checks(ratios, peaks, mixes(50, 20)), map[string]lab.Verdict{slower: lab.Differs, slight: lab.Reproduced})
	// Ratios beyond those chosen beforehand win no case.
	late := merged(mixes(900, 800), speeds(mixed(64, 1), 10), speeds(mixed(64, 16), 10), speeds(mixed(128, 1), 10), speeds(mixed(128, 16), 10))
	verdicts(t, fig6Checks([]int{2, 8, 64, 128}, peaks, late), map[string]lab.Verdict{gains: lab.Reproduced, fastest: lab.Differs})
	verdicts(t, fig6Checks([]int{4, 8}, peaks, mixes(50, 20)), map[string]lab.Verdict{slower: lab.Shown, slight: lab.Shown})
}

func TestFig7JudgesThePapersThreadsOnly(t *testing.T) {
	ratios := []int{2}
	times := merged(speeds(crew(1, 2), 300), speeds(crew(4, 2), 200), speeds(crew(16, 2), 50))
	checks := fig7Checks(ratios, []int{1, 4, 16}, nil, times)
	verdicts(t, checks, map[string]lab.Verdict{
		"EBF against Par-BF, threads: 1 ": lab.Shown, "EBF against Par-BF, threads: 4": lab.Differs, "EBF against Par-BF, threads: 16": lab.Reproduced,
		"several threads are faster than one, EBF with": lab.Reproduced, "several threads are faster than one, " + shardedEBF: lab.Differs, // level
	})
	checks = fig7Checks(ratios, []int{1}, []int{4, 16}, times)
	verdicts(t, checks, map[string]lab.Verdict{"EBF against Par-BF, threads: 4": lab.Shown, "several threads": lab.Shown})
	table := crewTable(ratios, []int{1}, []int{4, 16}, times)
	if len(table.Rows) != 3 || !strings.Contains(table.Rows[2][2], "not run") || strings.Contains(table.Rows[0][2], "not run") {
		t.Errorf("%v", table.Rows)
	}
}

func TestFig8bJudgesBothEnds(t *testing.T) {
	loads := []float64{0.5, 1}
	all := func(lazy, normal, anew float64) rounds {
		r := rounds{}
		for _, load := range loads {
			for i, nanos := range []float64{lazy, normal, anew} {
				r[lap{ways[i], expanding(15, load)}] = []float64{nanos}
			}
		}
		return r
	}
	verdicts(t, fig8bChecks([]int{15}, loads, all(1, 10, 20)), map[string]lab.Verdict{"2^15: lazy": lab.Reproduced, "2^15: building": lab.Reproduced, "2^15: time": lab.Shown})
	verdicts(t, fig8bChecks([]int{15}, loads, all(20, 10, 5)), map[string]lab.Verdict{"2^15: lazy": lab.Differs, "2^15: building": lab.Differs})
}
