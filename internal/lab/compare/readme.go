package compare

import (
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// A claim is a number that the README prints in "Which filter should I take?",
// about a million keys.
type claim struct {
	kind    string
	rate    float64
	what    string
	printed string
	value   func(p filter.Prediction) float64
}

func bits(p filter.Prediction) float64 { return p.FastBitsPerKey + p.SlowBitsPerKey }

func rateOf(p filter.Prediction) float64 { return p.FPR }

func hitLines(p filter.Prediction) float64 { return p.HitLines }

var claims = []claim{
	{"blocked", 0.01, "bits per key", "10.1", bits},
	{"blocked", 0.001, "bits per key", "15.7", bits},
	{"blocked", 0.01, "cache lines of a query", "1", hitLines},
	{"bloom", 0.01, "bits per key", "9.6", bits},
	{"bloom", 0.001, "bits per key", "14.4", bits},
	{"bloom", 0.01, "cache lines of a query", "7", hitLines},
	{"bloom", 0.001, "cache lines of a query", "10", hitLines},
	{"evergreen", 0.01, "cache lines of a query", "1", hitLines},
	{"dleft", 0.01, "bits per key", "21.3", bits},
	{"dleft", 0.01, "rate in fact", "0.15 %", rateOf},
	{"dleft", 0.001, "bits per key", "23.4", bits},
	{"deletable", 0.01, "bits per key", "11.5", bits},
	{"deletable", 0.001, "bits per key", "16.4", bits},
	{"scalable", 0.01, "bits per key if its first size was right", "12.6", bits},
	{"partition", 0.01, "bits per key", "46", bits},
}

// readmeChecks compares them with what the kinds predict; that the predictions are
// right is what all else here and the tests of the kinds are about.
func readmeChecks() (checks []lab.Check) {
	const n = 1_000_000
	predicted := func(name string, rate float64) (filter.Prediction, error) {
		k, err := kinds.ByName(name)
		if err != nil {
			return filter.Prediction{}, err
		}
		return k.Predict(kinds.Config{Items: n, FPR: rate}, n)
	}
	for _, c := range claims {
		name := fmt.Sprintf("%s at %s: %s", c.kind, percent(c.rate), c.what)
		p, err := predicted(c.kind, c.rate)
		if err != nil {
			checks = append(checks, lab.Show(name, err.Error()))
			continue
		}
		checks = append(checks, lab.Exact(name, c.printed, c.value(p)))
	}
	plain, err1 := predicted("bloom", 0.01)
	counting, err2 := predicted("counting", 0.01)
	slow, err3 := predicted("elastic", 0.01)
	if firstOf(err1, err2, err3) != nil {
		return append(checks, lab.Show("counting and elastic", firstOf(err1, err2, err3).Error()))
	}
	return append(checks,
		lab.Exact("counting: times the bits of bloom", "4.0", bits(counting)/bits(plain)),
		lab.Holds("elastic: bits per key", "thousands (README)", lab.Digits(bits(slow), 4), bits(slow) >= 1000, "a thousand or more"))
}
