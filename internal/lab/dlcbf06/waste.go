package dlcbf06

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// wasteFigures are the claims of Sec. 2 and 3 on where a counting filter, and a table
// with one hash function, lose space.
func wasteFigures() []lab.Check {
	set := theory.CountingOverflowBound(float64(rival.Counters), math.Ln2, 4)
	zero := math.Exp(-rival.Load(exampleKeys))
	over := above(6, 8)
	cells := 8
	for ; exampleBuckets*above(6, cells) > 1e-9; cells++ { // until a set overflows as rarely
	}
	return []lab.Check{
		lab.Show("Sec. 2.1: p is concentrated around its expectation", fmt.Sprintf("for 10,000 bits, 7 hashes and 1,000 elements p is 0.503 with a standard deviation of %s", lab.Digits(onesDeviation(1e4, 7e3), 2))),
		lab.Holds("Sec. 2.1: counters of four bits", "suffice for most applications", fmt.Sprintf("at ln 2 keys per counter some counter of %d overflows with odds of at most %s", rival.Counters, lab.Digits(set, 2)),
			set < 1e-6, "less than one set in a million"),
		lab.Exact("Sec. 2.2: counters of four bits, times the space of a Bloom filter", "4", float64(rival.Bits())/float64(rival.Counters)),
		lab.Holds("Sec. 2.2: counters that are zero, 13.5 per element and 9 hashes", "most entries are zero", lab.Digits(zero, 4)+"; with 13.5 ln 2 hashes 0.5", zero > 0.5, "more than half"),
		lab.Exact("Sec. 3.1: bits per element of a perfect hash function and fingerprints, rate 0.001465: ceil(log2 1/f)", "10", math.Ceil(-math.Log2(theory.DLeftRateBound(4, 6, 14)))),
		lab.Holds("Sec. 3.2: a single hash function, average load 6", "a lot of wasted space", fmt.Sprintf("%s of the buckets have more than 8; %d cells are needed for odds of 1e-9 that one of 8,192 overflows", lab.Percent(over), cells),
			cells > 2*8, "more than twice the 8 cells that d-left hashing takes"),
	}
}

// onesDeviation is the standard deviation of the share of set bits after so many
// throws.
func onesDeviation(bits, throws float64) float64 {
	zero, both := math.Exp(throws*math.Log1p(-1/bits)), math.Exp(throws*math.Log1p(-2/bits))
	return math.Sqrt((both*(bits-1)+zero)/bits - zero*zero)
}

// above is the probability that a bucket has more keys than cells, if keys fall into
// buckets with one hash function.
func above(load float64, cells int) (p float64) {
	for i, prob := range theory.Poisson(load) {
		if i > cells {
			p += prob
		}
	}
	return p
}

// savingFigures are about the bound of Sec. 4 and the saving that the abstract states.
func savingFigures() []lab.Check {
	four, five := theory.DLeftRateBound(4, 6, 4), theory.DLeftRateBound(4, 6, 5)
	saving := func(f float64) float64 { return cbfBits(f) / dlcbfBits(f) }
	least := math.Inf(1)
	for x := -2.0; x >= -9; x -= 0.01 {
		least = min(least, saving(math.Pow(10, x)))
	}
	tenth := saving(0.1)
	return []lab.Check{
		lab.Holds("Sec. 4: bound 24·2^-r below 1", "r ≥ 5", fmt.Sprintf("%v at r = 5, %v at 4", five, four), five < 1 && four >= 1, "below 1 at r = 5, not at 4"),
		lab.Holds("Abstract, Sec. 1: savings at rates of 1 % and below", "generally a factor of two or more", fmt.Sprintf("at least %s from 1 %% to 1e-9", lab.Digits(least, 3)), least >= 2,
			"2 or more with whole r, at every rate in steps of a hundredth of a power of ten"),
		lab.Holds("Abstract, Sec. 1: savings at a rate of 10 %", "generally a factor of two or more", lab.Digits(tenth, 3), tenth >= 2, "2 or more").
			Because("two bits of counter and log2 24 bits are spent for each element whatever the rate is, so that a small filter saves less; the paper says \"generally\""),
	}
}

// dlcbfBits is the size of a d-left filter of at most rate f, per key, whose
// remainders have a whole number of bits.
func dlcbfBits(f float64) float64 {
	r := math.Ceil(math.Log2(24/f) - 1e-3) // the printed rates are rounded
	return 4 * (r + 2) / 3
}
