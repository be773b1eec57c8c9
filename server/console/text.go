package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

func perSecond(x float64) string { return quantity.Short(x) + "/s" }

func inBytes(x float64) string { return quantity.Bytes(x) }

func bytesPerSecond(x float64) string { return quantity.Bytes(x) + "/s" }

const day = 24 * time.Hour

// duration writes a time in one or two units.
func duration(d time.Duration) string {
	switch {
	case d >= 10*day:
		return fmt.Sprintf("%d days", d.Round(day)/day)
	case d >= 2*day:
		d = d.Round(time.Hour)
		return strings.TrimSuffix(fmt.Sprintf("%d days %d h", d/day, d%day/time.Hour), " 0 h")
	}
	text := quantity.Duration(d)
	return strings.TrimSuffix(strings.TrimSuffix(text, " 0 s"), " 0 min")
}

// ago writes how long ago something was, in whole seconds, for texts that change each second.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Second:
		return "< 1 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	default:
		return duration(d)
	}
}

// rateText writes a probability in per cent with up to three digits that count, however small
// it is, so that rates side by side can be compared.
func rateText(p float64) string {
	percent := 100 * p
	if !(percent > leastRate) {
		return "0 %"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(percent))))
	text := strconv.FormatFloat(percent, 'f', digits, 64)
	if digits > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " %"
}

// farBelow is the share of the rate that was asked for below which a rate is not told exactly.
const farBelow = 1e-3

// rateBeside writes a rate beside the one that was asked for: digits of one that is far below
// say nothing.
func rateBeside(p, asked float64) string {
	if p > 0 && p < farBelow*asked {
		return "< " + rateText(farBelow*asked)
	}
	return rateText(p)
}

// bitsText writes a number of bits per key, which is large for a set that is nearly empty.
func bitsText(bits float64) string {
	if bits >= 100 {
		return quantity.Count(uint64(math.Round(bits)))
	}
	return strconv.FormatFloat(bits, 'f', 1, 64)
}

// leastRate is what no filter can be told apart from 0 at, in per cent.
const leastRate = 1e-16

// plural returns the word for a number of things.
func plural(n any, one, many string) string {
	if fmt.Sprint(n) == "1" {
		return one
	}
	return many
}

// inSeconds writes a short time.
func inSeconds(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 0.9995e-3:
		return quantity.Short(x*1e6) + " µs"
	case x < 0.9995:
		return quantity.Short(x*1e3) + " ms"
	}
	return quantity.Short(x) + " s"
}
