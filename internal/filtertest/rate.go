package filtertest

import (
	"errors"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/theory"
)

const (
	// RateSlack is by how much, relatively, the rate of one filter may differ from
	// the predicted one beyond the spread of the measurement. Filters of equal
	// shape and load differ: the keys per block of a blocked filter scatter by
	// 18 % at 0.1 %, the rate of a block by ten times that, and the mean over the
	// 1,500 blocks that the suite uses still by 4 %. Three such deviations, and
	// the 1 % that rounding to whole bits and hashes costs, are allowed.
	RateSlack = 0.15

	// sigmas is the width of all other tolerances.
	sigmas = 4
)

// rateKeys and rateProbes are large enough to tell twice the rate from the rate:
// 100 hits expected at 0.1 %, spread 10, or in the long form 200, spread 14.
var (
	rateKeys   = effort.Pick[uint64](20_000, 50_000)
	rateProbes = effort.Pick(100_000, 200_000)
)

// MeasureRate asks f about the first absent keys of a stream and returns how
// often it was found.
func MeasureRate(f filter.Filter, absent Stream, probes int) (hits int) {
	for i := range uint64(probes) {
		if f.MayContain(absent.Absent(i)) {
			hits++
		}
	}
	return hits
}

// CheckRate fails the test if hits among probes is not what trials of the
// predicted probability give, within the given number of standard deviations.
func CheckRate(tb testing.TB, name string, hits, probes int, predicted, sigmas float64) {
	tb.Helper()
	checkBetween(tb, name, hits, probes, predicted, predicted, sigmas)
}

// checkBetween is CheckRate for a probability that is known to lie between low
// and high.
func checkBetween(tb testing.TB, name string, hits, probes int, low, high, sigmas float64) {
	tb.Helper()
	least, _ := theory.BinomialInterval(float64(probes), low, sigmas)
	_, most := theory.BinomialInterval(float64(probes), min(1, high), sigmas)
	if h := float64(hits); h < least || h > most {
		tb.Errorf("%s: %d found among %d, a rate of %.3g; a rate of %.3g to %.3g gives %.0f to %.0f",
			name, hits, probes, h/float64(probes), low, high, least, most)
	}
}

// rateIsAsPredictedAndAsked measures at half the keys that the filter was made
// for, at all, and at twice as many.
func rateIsAsPredictedAndAsked(c checker) {
	for _, asked := range []float64{0.01, 0.001} {
		stream := c.stream(71)
		f := c.make(rateKeys, asked)
		c.addAll(f, stream.Keys(rateKeys/2))
		c.checkPrediction(f, stream, "half full", rateProbes)

		c.addAll(f, stream.Keys(rateKeys)[rateKeys/2:])
		hits := c.checkPrediction(f, stream, "full", rateProbes)
		checkBetween(c, "full, against the asked rate", hits, rateProbes, 0, asked*(1+RateSlack), sigmas)

		if c.addWhatFits(f, stream.Keys(2 * rateKeys)[rateKeys:]) > 0 {
			c.checkPrediction(f, stream, "beyond full", rateProbes)
		}
	}
}

// checkPrediction compares the measured rate with that of Info.
func (c checker) checkPrediction(f filter.Filter, stream Stream, when string, probes int) (hits int) {
	predicted := f.Info().FPR
	low := predicted * (1 - RateSlack)
	if c.s.BoundOnly {
		low = 0
	}
	hits = MeasureRate(f, stream, probes)
	checkBetween(c, when+", against the rate that Info tells", hits, probes, low, predicted*(1+RateSlack), sigmas)
	return hits
}

// addWhatFits adds keys until the filter is full and returns how many fitted.
func (c checker) addWhatFits(f filter.Filter, keys []filter.Key) int {
	for i, k := range keys {
		if _, err := f.Add(k); errors.Is(err, filter.ErrFull) {
			return i
		} else if err != nil {
			c.Fatalf("adding key %d, %#x: %v", i, k, err)
		}
	}
	return len(keys)
}
