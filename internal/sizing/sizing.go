// Package sizing is what the Configs of all kinds have in common: the number of
// keys and the false-positive rate, their defaults, and how values out of range
// are reported.
package sizing

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// The defaults of every Config, and limits that keep all arithmetic within 64
// bits; memory ends long before.
const (
	Items = 1_000_000
	FPR   = 0.001

	MaxItems  = 1 << 44
	MaxHashes = 64
)

// New returns what build makes of the shape for a Config.
func New[S, F any](shape func() (S, error), build func(S) (*F, error)) (*F, error) {
	s, err := shape()
	if err != nil {
		return nil, err
	}
	return build(s)
}

// Problems collects everything that is wrong with a Config or a Shape.
type Problems struct {
	pkg  string
	errs []error
}

// In returns Problems whose texts begin with the name of the package.
func In(pkg string) Problems { return Problems{pkg: pkg} }

// Add adds err, unless it is nil.
func (p *Problems) Add(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

// Addf adds a text of the form "Field: value, limit".
func (p *Problems) Addf(format string, args ...any) {
	p.errs = append(p.errs, fault.In(p.pkg, format, args...))
}

// Err returns all problems as one error, or nil.
func (p *Problems) Err() error { return errors.Join(p.errs...) }

// None reports whether nothing is wrong so far.
func (p *Problems) None() bool { return len(p.errs) == 0 }

// Size checks both fields that all Configs have.
func (p *Problems) Size(items, most uint64, fpr float64) {
	p.Rate(fpr, items, Floor(items))
	p.Items(items, most)
}

// Items checks a number of keys.
func (p *Problems) Items(items, most uint64) {
	if items > most {
		p.Addf("Items: %d, at most %d", items, most)
	}
}

// Floor returns the rate that keys of 64 bits have by themselves: an absent key may
// equal one of n others.
func Floor(n uint64) float64 { return float64(n) / (1 << 63) / 2 }

// Rate checks a rate for a number of keys that gives at least floor.
func (p *Problems) Rate(fpr float64, items uint64, floor float64) {
	if !(fpr > 0 && fpr < 1) {
		p.Addf("FPR: %g, must lie between 0 and 1", fpr)
	} else if fpr < floor {
		p.Addf("FPR: %g, keys of 64 bits give at least %.2g for %d items", fpr, floor, items)
	}
}

// OneOf checks a field that has few values.
func (p *Problems) OneOf(field string, value int, allowed ...int) {
	if slices.Contains(allowed, value) {
		return
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = strconv.Itoa(a)
	}
	last := len(names) - 1
	p.Addf("%s: %d, must be %s or %s", field, value, strings.Join(names[:last], ", "), names[last])
}

// Between checks that a field is least to most.
func Between[T int | uint64](p *Problems, field string, value, least, most T) {
	if value < least || value > most {
		p.Addf("%s: %d, must be %d to %d", field, value, least, most)
	}
}

// RoundKeys turns an estimate into a number of keys, math.MaxInt64 if there is no telling:
// filters whose bits are all set give +Inf.
func RoundKeys(n float64) uint64 {
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return uint64(math.Round(n))
}
