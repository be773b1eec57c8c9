package ebf21

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// boundChecks are Lemma 4.1, Theorem 4.1 and the bucket size that follows.
func boundChecks(overflows []int, trials int) []lab.Check {
	m := math.Ldexp(1, tableSize)
	n := fullKeys(tableSize)
	d := theory.ElasticBucketSize(n, m, 1/m, tableHashes)
	a := math.E * n * tableHashes / m
	holds, points := lemmaGrid()
	tight, printed := boundRatio()
	expected := 1 / m * float64(trials)
	return []lab.Check{
		lab.Holds("Lemma 4.1", "(a/M)^M <= b for a > 4, b in (0, 1/9)", fmt.Sprintf("at %d of %d points of a grid", holds, points), holds == points, "at all of them, by computation"),
		lab.Holds("Lemma 4.1 where Theorem 4.1 uses it, at Table 1", "a = enk/m, b = ε/m", fmt.Sprintf("a = %.2f", a), a > 4 && theory.ElasticLemma(a, 1/m/m), "a > 4, and (a/M)^M <= b").
			Because("at the threshold enk/m is -e ln(1 - Ω), which is above 4 only for Ω above 0.77"),
		lab.Holds("Eq. (3), left side", "at most ε = 1/m for M that is large enough: a bound", fmt.Sprintf("1 to %s times the exact odds for 3 to 12 fingerprints", lab.Digits(tight, 3)), tight >= 1, "never below the exact odds"),
		lab.Holds("Eq. (2) and (3), right side", "(enk/M)^M, and m (enk/M)^M <= ε", fmt.Sprintf("at least %s", lab.Digits(printed, 3)), printed <= 1, "a bound of a probability is at most 1").
			Because("an m is missing: it is (enk/(mM))^M"),
		lab.Holds("D of Sec. 4.3 at Table 1's k, m and Ω", "Table 1: 8", lab.Digits(d, 3), math.Ceil(d) == tableSlots, "rounded up to whole slots").
			Because("the formula rests on Lemma 4.1 where that does not hold. The authors did not use it for Table 1"),
		lab.Holds("overflows with that D", "Theorem 4.1: with probability ε = 1/m at most", fmt.Sprintf("%d of %d filters", overflows[0], trials), float64(overflows[0]) <= expected+lab.Sigmas*math.Sqrt(expected)+1,
			fmt.Sprintf("%.2g filters, %d standard deviations and one more", expected, lab.Sigmas)).
			Because("as before; the exact odds for 3 slots are in the table"),
		lab.PredictedRate("overflows with 3 slots, against exact odds", "1 - exp(-m P[X > 3])", overflowOdds(bucketSizes[0]), overflows[0], trials),
		lab.Holds("overflows with Table 1's D = 8, without and with trees", "Theorem 4.1: with probability ε = 1/m at most", fmt.Sprintf("%d and %d of %d filters", overflows[1], overflows[2], trials),
			float64(overflows[1]+overflows[2]) <= 2*expected+lab.Sigmas*math.Sqrt(2*expected)+1, fmt.Sprintf("%.2g filters of either, %d standard deviations and one more", expected, lab.Sigmas)),
	}
}

// lemmaGrid counts the points of a grid at which the lemma holds.
func lemmaGrid() (holds, points int) {
	for a := 4.001; a < 1000; a *= 1.1 {
		for b := 0.111; b > 1e-30; b /= 3 {
			points++
			if theory.ElasticLemma(a, b) {
				holds++
			}
		}
	}
	return holds, points
}

// boundRatio returns the smallest of 1 and bound over exact odds, or else the
// largest, and the smallest value of the right side as printed.
func boundRatio() (tight, printed float64) {
	const n, m, k = 1e5, 1 << 20, 7
	least, most := math.Inf(1), 0.0
	printed = math.Inf(1)
	for M := 3; M <= 12; M++ {
		ratio := theory.ElasticOverflowBound(n, m, k, M) / (m * theory.ElasticTreeOverflow(k*n/m, M-1, 1))
		least, most = min(least, ratio), max(most, ratio)
		printed = min(printed, m*math.Pow(math.E*n*k/float64(M), float64(M)))
	}
	if least < 1 {
		return least, printed
	}
	return most, printed
}

// slotPlot draws the slots that the formula gives and those that are needed.
func slotPlot() lab.Plot {
	m := math.Ldexp(1, tableSize)
	formula := lab.Series{Name: "formula of Sec. 4.3", Style: lab.Dashed}
	alone := lab.Series{Name: "needed without trees", Style: lab.Step}
	tree := lab.Series{Name: "needed with 3 branches", Style: lab.Step}
	for omega := 0.02; omega < 0.9; omega += 0.02 {
		load := -math.Log1p(-omega)
		formula.Points = append(formula.Points, lab.Point{X: omega, Y: theory.ElasticBucketSize(load*m/tableHashes, m, 1/m, tableHashes)})
		alone.Points = append(alone.Points, lab.Point{X: omega, Y: neededSlots(load, 1)})
		tree.Points = append(tree.Points, lab.Point{X: omega, Y: neededSlots(load, tableBranches)})
	}
	table := lab.Series{Name: "Table 1", Style: lab.Dots, Points: []lab.Point{{X: tableThreshold, Y: tableSlots}}}
	return lab.Plot{
		Name: "slots", Title: "Slots for no overflow with probability 1 - 1/m, m = 2^15",
		X: lab.Axis{Label: "set-bit rate Ω", Percent: true}, Y: lab.Axis{Label: "slots D"}, Series: []lab.Series{formula, alone, tree, table},
	}
}

// neededSlots is the smallest D with which the exact odds of an overflow are at
// most 1/m.
func neededSlots(load float64, branches int) float64 {
	m := math.Ldexp(1, tableSize)
	for d := 1; ; d++ {
		if m/float64(branches)*theory.ElasticTreeOverflow(load, d, branches) <= 1/m {
			return float64(d)
		}
	}
}
