package quantity

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Count gives a number with its thousands apart: 1,234,567.
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Keys gives a number of keys: 1 key, 2,000 keys. Where every bit is set filters
// estimate an endless one, math.MaxInt64.
func Keys(n uint64) string {
	switch {
	case n == 1:
		return "1 key"
	case n >= math.MaxInt64:
		return "too many keys to tell"
	}
	return Count(n) + " keys"
}

// About gives an estimated number of keys.
func About(n uint64) string {
	if n >= math.MaxInt64 {
		return Keys(n)
	}
	return "about " + Keys(n)
}

// Short gives a number in three digits: 999, 1.23 k, 45.6 M.
func Short(x float64) string {
	return scaled(x, 1000, []string{"", " k", " M", " G", " T", " P"})
}

// Round gives a number that has few digits: 500, 10 k, 1.5 M.
func Round(x float64) string {
	units := []string{"", " k", " M", " G", " T", " P"}
	i := 0
	for ; x >= 1000 && i < len(units)-1; i++ {
		x /= 1000
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + units[i]
}

// Bytes gives a number of bytes in three digits: 999 B, 1.23 KiB, 45.6 MiB.
func Bytes(n float64) string {
	return scaled(n, 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB"})
}

// scaled divides x by step until three digits before the point suffice.
func scaled(x, step float64, units []string) string {
	i := 0
	for ; x >= 999.5 && i < len(units)-1; i++ {
		x /= step
	}
	if i == 0 && x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 0, 64) + units[0]
	}
	return threeDigits(x) + units[i]
}

// threeDigits shows x, at least 0, with three significant digits where there
// are that many.
func threeDigits(x float64) string {
	switch {
	case x >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// Rate gives a probability in per cent with up to three digits, and one below a
// hundredth of a per cent as a power of ten.
func Rate(p float64) string {
	if p > 0 && p < 1e-4 {
		return strconv.FormatFloat(p, 'g', 3, 64)
	}
	return strconv.FormatFloat(100*p, 'g', 3, 64) + " %"
}

// RateFormat gives the rates of one column in one notation: in per cent, or if the least
// of them is below a thousandth of a per cent, as powers of ten.
func RateFormat(rates ...float64) func(p float64) string {
	least := 1.0
	for _, p := range rates {
		if p > 0 {
			least = min(least, p)
		}
	}
	if least >= 0.95e-5 {
		return func(p float64) string { return strconv.FormatFloat(100*p, 'g', 3, 64) + " %" }
	}
	return func(p float64) string { return strconv.FormatFloat(p, 'e', 2, 64) }
}

// Duration gives a time in one or two units, as exact as it is of use.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Hour {
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}
