package dlcbf06

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// bitsPlot draws bits per key over the rate.
func bitsPlot() lab.Plot {
	cbf := lab.Series{Name: "counting filter", Style: lab.Line, Color: 1}
	dlcbf := lab.Series{Name: "d-left, any r", Style: lab.Line, Color: 2}
	whole := lab.Series{Name: "d-left, r = 8 to 21", Style: lab.Dots, Color: 2}
	for x := -1.0; x >= -5; x -= 0.25 {
		f := math.Pow(10, x)
		cbf.Points = append(cbf.Points, lab.Point{X: f, Y: cbfBits(f)})
		dlcbf.Points = append(dlcbf.Points, lab.Point{X: f, Y: theory.DLeftBitsPerKey(f)})
	}
	for r := 8; r <= 21; r++ {
		f := theory.DLeftRateBound(4, 6, r)
		whole.Points = append(whole.Points, lab.Point{X: f, Y: theory.DLeftBitsPerKey(f)})
	}
	return lab.Plot{
		Name: "bits", Title: "Bits per key of a counting filter and of the d-left one",
		X: lab.Axis{Label: "rate of false positives", Log: true, Percent: true}, Y: lab.Axis{Label: "bits per key"},
		Series: []lab.Series{cbf, dlcbf, whole},
		Notes:  []string{"Counting: counters of four bits and the best number of hashes."},
	}
}

// cbfBits is the size of a counting filter of rate f, per key.
func cbfBits(f float64) float64 { return 4 * math.Log(f) / math.Log(theory.CountingOptimalFPR(1)) }

// ratioPlot draws what equal sizes give.
func ratioPlot() lab.Plot {
	ratio := lab.Series{Name: "CBF / dlCBF", Style: lab.LinePoints}
	for r := 5; r <= 20; r++ {
		ratio.Points = append(ratio.Points, lab.Point{X: float64(r), Y: ratioAt(r)})
	}
	return lab.Plot{
		Name: "ratio", Title: "Rate of a counting filter over that of a d-left one of the same size",
		X: lab.Axis{Label: "bits of a remainder, r"}, Y: lab.Axis{Label: "ratio of the rates", Log: true},
		Series: []lab.Series{ratio},
	}
}

// equalSize compares both filters at equal rate.
func equalSize() lab.Table {
	table := lab.Table{
		Name: "savings", Title: "What the d-left filter saves at equal rate",
		Columns: []string{"rate", "counting: bits per key", "d-left: bits per key", "factor"},
		Notes: []string{"The abstract: \"generally saving a factor of two or more\". With whole r, 24·2^-r at most the rate, and the best number of hashes, " +
			"which need not be whole: both are optimistic for the counting filter."},
	}
	for _, f := range []float64{0.1, 0.05, 0.02, 0.01, 0.001465, 0.001, 1e-4, 1e-5} {
		table.Add(lab.Digits(f, 4), cbfBits(f), dlcbfBits(f), cbfBits(f)/dlcbfBits(f))
	}
	return table
}

// tighter finds how full larger buckets may be: Sec. 4 says that the factor of 4/3
// could be reduced arbitrarily close to 1.
func tighter(cells []int) lab.Table {
	const odds = 1e-9
	table := lab.Table{
		Name: "tighter", Title: fmt.Sprintf("Largest load at which 2^20 steps overflow with odds of %g, 49,152 keys, four subarrays", odds),
		Columns: []string{"cells", "load", "cells per key", "rate at r = 14", "bits per key at 0.1 %"},
		Notes: []string{"Sec. 4: the factor 4/3, cells per key, could be reduced arbitrarily close to 1 by larger buckets that are filled more tightly, " +
			"for a larger constant: more cells are compared, which costs remainder bits. The last column has a remainder of a real number of bits."},
	}
	for _, c := range cells {
		load := largestLoad(c, odds)
		rate := theory.DLeftRateBound(4, load, 14)
		r := math.Log2(4 * load / 0.001)
		table.Add(c, load, float64(c)/load, rate, (r+2)*float64(c)/load)
	}
	return table
}

// largestLoad searches to a thousandth of a bucket.
func largestLoad(cells int, odds float64) float64 {
	low, high := 0.25*float64(cells), float64(cells)
	for high-low > 0.001*float64(cells) {
		load := (low + high) / 2
		if theory.DLeftSteadyOverflow(4, cells, exampleKeys/4/load, exampleKeys, paperSteps) <= odds {
			low = load
		} else {
			high = load
		}
	}
	return low
}
