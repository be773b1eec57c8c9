package growth

import (
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// Figures of InfiniFilter and Aleph with fingerprints of 10 bits, from 4,096 slots on,
// measured with their authors' code at another time: rates doubling by doubling when 79 %
// of the slots are taken, and all bits per key then.
var theirRates = []float64{0.0016, 0.0023, 0.00305, 0.0039, 0.0046, 0.0055, 0.0061, 0.0068, 0.0077, 0.0084, 0.0093}

const theirBits = 16.46

func theirKeys(doubling int) float64 { return math.Ldexp(0.79*4096, doubling) }

func fullest(doubling int) (keys, bits float64)   { return theirKeys(doubling), theirBits }
func twiceThat(doubling int) (keys, bits float64) { return theirKeys(doubling) * 1.001, 2 * theirBits }
func drift(doubling int) (keys, rate float64) {
	return theirKeys(doubling), theirRates[doubling] / 0.01
}

func withMarks(v lab.View, at ...func(doubling int) (x, y float64)) lab.View {
	for i := range theirRates {
		for _, mark := range at {
			x, y := mark(i)
			v.Marks = append(v.Marks, lab.Mark{X: x, Y: y, Text: "InfiniFilter and Aleph"})
		}
	}
	return v
}

// theirTable is what others have.
func theirTable() lab.Part {
	doublings := lab.Dim{Name: "doubling"}
	for i := range theirRates {
		doublings.Values = append(doublings.Values, float64(i))
	}
	of := func(name string, unit lab.Unit, value func(doubling int) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: unit, Of: func(at lab.At) float64 { return value(at.Int("doubling")) }}
	}
	return lab.Computed("theirs", "InfiniFilter and Aleph, measured with their own code, not in this run", []lab.Dim{doublings},
		of("keys, theirs", lab.Plain, theirKeys), of("rate, theirs", lab.InPercent, func(i int) float64 { return theirRates[i] }),
		lab.Fixed("bits per key when fullest, theirs", lab.Plain, theirBits), lab.Fixed("bits per key after a doubling, theirs", lab.Plain, 2*theirBits))
}
