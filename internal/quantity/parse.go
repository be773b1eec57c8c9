// Package quantity turns what people write into numbers and numbers into what
// people read.
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// exponents of the suffixes, which are decimal: they count keys, not bytes.
var exponents = map[byte]string{'k': "e3", 'm': "e6", 'g': "e9", 't': "e12"}

// maxCount is the largest number that a float64 holds with all its digits.
const maxCount = 1 << 53

// ParseCount understands 1000000, 1_000_000, 1,000,000, 1e6, 10M, 250k, 1.5G: a
// whole number from 1 to 2^53.
func ParseCount(text string) (uint64, error) {
	digits := strings.NewReplacer("_", "", ",", "").Replace(strings.ToLower(strings.TrimSpace(text)))
	if n := len(digits); n > 1 {
		if e, ok := exponents[digits[n-1]]; ok {
			digits = digits[:n-1] + e // exact, unlike a product
		}
	}
	x, err := parseDecimal(digits)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a number: write 1000000, 1e6 or 1M", text)
	case x != math.Trunc(x):
		return 0, fmt.Errorf("%s is not a whole number", text)
	case x < 1 || x > maxCount:
		return 0, fmt.Errorf("%s must be 1 to 2^53", text)
	}
	return uint64(x), nil
}

// binary units of bytes. The decimal ones are those of ParseCount.
var binary = map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// ParseBytes understands 512MiB and 1.5GiB, and what ParseCount does.
func ParseBytes(text string) (uint64, error) {
	for unit, times := range binary {
		if digits, ok := strings.CutSuffix(strings.TrimSpace(text), unit); ok {
			x, err := parseDecimal(strings.TrimSpace(digits))
			if err != nil || !(x*times >= 1 && x*times <= maxCount) {
				return 0, fmt.Errorf("%q is not a number of bytes: write 16777216 or 16MiB", text)
			}
			return uint64(math.Round(x * times)), nil
		}
	}
	return ParseCount(text)
}

// ParseRate understands 0.01, 1e-2 and 1%: a rate above 0 and below 1.
func ParseRate(text string) (float64, error) {
	digits := strings.TrimSpace(text)
	if percent, ok := strings.CutSuffix(digits, "%"); ok {
		digits = strings.TrimSpace(percent) + "e-2" // exact, unlike a quotient
	}
	x, err := parseDecimal(digits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a rate: write 0.01 or 1%%", text)
	}
	if !(x > 0 && x < 1) {
		return 0, fmt.Errorf("%s must lie between 0 and 1", text)
	}
	return x, nil
}

// parseDecimal leaves out what strconv also takes for numbers: NaN, infinities
// and hexadecimal.
func parseDecimal(text string) (float64, error) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}
