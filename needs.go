package everbloom

import (
	"errors"
	"fmt"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/kinds"
)

// Needs says what a set has to do. The zero Needs is a set of a million keys
// with one false positive in a thousand that is only added to and asked.
type Needs struct {
	// Items is the number of keys expected; 0 means 1,000,000. For sets that grow
	// it is where they begin.
	Items uint64

	// FPR is the wanted rate of false positives, between 0 and 1; 0 means 0.001.
	FPR float64

	Delete bool // keys will be deleted
	Grow   bool // nobody knows how many keys there will be
	Merge  bool // the set will be united or intersected with others

	// Spare is what to save first when several kinds would do.
	Spare Resource

	// Kind names the kind to take, whatever Plan would advise. It must be able to
	// do what is needed.
	Kind string

	// Shards splits the keys over so many independent filters, each with its own
	// lock, so that several goroutines can write at the same time; 0 means 1, at
	// most 1024. Only sets with equal Shards can be merged.
	Shards int

	// Hash turns the caller's keys into filter.Keys. The zero value is XXH3; for
	// keys that an adversary may choose take filter.NewSipHash.
	Hash filter.Hash
}

// A Resource is something a filter consumes.
type Resource uint8

// What can be spared.
const (
	Time        Resource = iota // time per query: the default
	FastMemory                  // memory that queries read
	TotalMemory                 // memory of all kinds
)

var resourceNames = [...]string{Time: "time", FastMemory: "fast", TotalMemory: "total"}

// String returns "time", "fast" or "total".
func (r Resource) String() string {
	if int(r) < len(resourceNames) {
		return resourceNames[r]
	}
	return fmt.Sprintf("Resource(%d)", uint8(r))
}

// ParseResource is the reverse of String.
func ParseResource(name string) (Resource, error) {
	for r, n := range resourceNames {
		if n == name {
			return Resource(r), nil
		}
	}
	return 0, fmt.Errorf("everbloom: spare: %q is unknown: take time, fast or total", name)
}

const (
	defaultItems = 1_000_000
	defaultFPR   = 0.001
	maxShards    = 1024
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (n Needs) withDefaults() (Needs, error) {
	if n.Items == 0 {
		n.Items = defaultItems
	}
	if n.FPR == 0 {
		n.FPR = defaultFPR
	}
	if n.Shards == 0 {
		n.Shards = 1
	}
	var errs []error
	if !(n.FPR > 0 && n.FPR < 1) {
		errs = append(errs, fmt.Errorf("everbloom: FPR: %g, must lie between 0 and 1", n.FPR))
	}
	if n.Shards < 1 || n.Shards > maxShards {
		errs = append(errs, fmt.Errorf("everbloom: Shards: %d, must be 1 to %d", n.Shards, maxShards))
	}
	if int(n.Spare) >= len(resourceNames) {
		errs = append(errs, fmt.Errorf("everbloom: Spare: %d is unknown", n.Spare))
	}
	return n, errors.Join(errs...)
}

// lacks names what n asks for and k cannot do; empty if it can do everything.
func (n Needs) lacks(k kinds.Kind) []string {
	var lacks []string
	can := k.Abilities()
	if n.Delete && !can.Delete {
		lacks = append(lacks, "delete")
	}
	if n.Grow && !k.Grows {
		lacks = append(lacks, "grow")
	}
	if n.Merge && !can.Merge {
		lacks = append(lacks, "merge")
	}
	return lacks
}
