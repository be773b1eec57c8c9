package filter

import (
	"fmt"
	"math"
	"strings"
)

// Info describes a filter at one moment.
type Info struct {
	Kind       string     `json:"kind"`
	Keys       uint64     `json:"keys"`               // how many keys are in the set; math.MaxInt64 if there is no telling
	Exact      bool       `json:"exact"`              // whether Keys is a count; otherwise it is an estimate
	Capacity   uint64     `json:"capacity,omitempty"` // keys it was made for; 0 if unbounded or unknown
	FastBits   uint64     `json:"fast_bits"`          // memory that queries read
	SlowBits   uint64     `json:"slow_bits"`          // memory that only changes touch
	FPR        float64    `json:"fpr"`                // estimated false-positive rate as the filter stands
	Fill       float64    `json:"fill"`               // used share of the bits, cells or slots, 0 to 1
	Overfull   bool       `json:"overfull"`           // more keys than Capacity: the rate is above the asked one
	Unbounded  bool       `json:"unbounded"`          // grows by itself
	Duplicates Duplicates `json:"duplicates"`         // what adding a key twice does
	Details    []Detail   `json:"details,omitempty"`  // what else this kind has to tell
}

// A Detail is one figure of interest that only some kinds have.
type Detail struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Saturated reports whether the filter says yes to nearly every key, more than 9,999 in
// 10,000. Where all bits are set an estimate of Keys is math.MaxInt64.
func (i Info) Saturated() bool { return i.FPR > 0.9999 }

// BitsPerKey returns the memory spent per key in the set, fast and slow
// together, and 0 for a set that is empty or has too many keys to tell.
func (i Info) BitsPerKey() float64 {
	if i.Keys == 0 || i.Keys >= math.MaxInt64 {
		return 0
	}
	return float64(i.FastBits+i.SlowBits) / float64(i.Keys)
}

// String describes the filter in a line, for logs.
func (i Info) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", i.Kind)
	switch {
	case i.Keys >= math.MaxInt64:
		b.WriteString("too many keys to tell")
	case i.Exact:
		fmt.Fprintf(&b, "%d keys", i.Keys)
	default:
		fmt.Fprintf(&b, "about %d keys", i.Keys)
	}
	if i.Capacity > 0 {
		fmt.Fprintf(&b, " of %d", i.Capacity)
	}
	fmt.Fprintf(&b, ", false-positive rate %.3g", i.FPR)
	if i.Overfull {
		b.WriteString(" (overfull)")
	}
	fmt.Fprintf(&b, ", %d bytes", (i.FastBits+i.SlowBits+7)/8)
	if perKey := i.BitsPerKey(); perKey > 0 {
		fmt.Fprintf(&b, ", %.1f bits per key", perKey)
	}
	return b.String()
}

// Duplicates says what adding a key that is already in the set does.
type Duplicates uint8

const (
	// DuplicatesIgnored means that adding again changes nothing; one Delete takes the key out.
	DuplicatesIgnored Duplicates = iota

	// DuplicatesCounted means that as many Deletes are needed as there were Adds, and
	// deleting more often than adding may deny other keys.
	DuplicatesCounted

	// DuplicatesPin means that adding again makes the key impossible to delete.
	DuplicatesPin
)

// String returns "ignored", "counted" or "pinned".
func (d Duplicates) String() string {
	switch d {
	case DuplicatesIgnored:
		return "ignored"
	case DuplicatesCounted:
		return "counted"
	case DuplicatesPin:
		return "pinned"
	}
	return fmt.Sprintf("Duplicates(%d)", uint8(d))
}

// MarshalText makes JSON show the word instead of the number.
func (d Duplicates) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
