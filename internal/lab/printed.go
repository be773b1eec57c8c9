package lab

import (
	"math"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// printedNumber is a number as a paper prints it.
type printedNumber struct {
	value   float64
	half    float64 // half a unit of the last digit printed
	percent bool    // ours are written in percent, too
}

// parsePrinted reads a number. A percent sign and thousands separated by commas
// are understood; words after a space are not read.
func parsePrinted(text string) (printedNumber, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	p := printedNumber{value: math.NaN(), half: math.NaN()}
	word, found := strings.CutSuffix(word, "%")
	p.percent = found || strings.HasPrefix(rest, "%")
	word = strings.ReplaceAll(word, ",", "")
	value, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return p, fault.In("lab", "printed number %q: %w", text, err)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(word), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(exponent) // ParseFloat has accepted it
	p.value, p.half = value, math.Pow(10, float64(power-len(fraction)))/2
	if p.percent {
		p.value, p.half = p.value/100, p.half/100
	}
	return p, nil
}

// write writes one of our numbers in the unit of the printed one, with digits
// enough to see differences of the given size.
func (p printedNumber) write(v, size float64) string {
	if p.percent {
		return digitsFor(100*v, 100*size) + " %"
	}
	return digitsFor(v, size)
}

func (p printedNumber) writeEstimate(e Estimate) string {
	if p.percent {
		return Estimate{100 * e.Mean, 100 * e.Deviation, e.N}.String() + " %"
	}
	return e.String()
}

// around writes the interval of that reach around the printed number.
func (p printedNumber) around(reach float64) string {
	return p.write(p.value-reach, reach) + " to " + p.write(p.value+reach, reach)
}

// digitsFor writes v with two digits more than a difference of that size begins
// at.
func digitsFor(v, size float64) string {
	if v == 0 || !(size > 0) {
		return Digits(v, 4)
	}
	return Digits(v, max(2, 2+int(math.Floor(math.Log10(math.Abs(v)))-math.Floor(math.Log10(size)))))
}
