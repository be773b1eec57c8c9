package kinds

import (
	"io"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Kind is one row of the table.
type Kind struct {
	Name   string     // one lower-case word
	Number frame.Kind // in files
	Title  string     // what it is, in a few words

	// Strength and Weakness are half sentences that follow the name and a colon.
	Strength, Weakness string

	Grows        bool // by itself, without limit
	Drifts       bool // the rate rises as it grows
	Duplicates   filter.Duplicates
	Pins         bool   // some keys that are in the set cannot be deleted
	Deleting     string // what Delete promises; "–" if there is none
	AbsentDelete string // what deleting an absent key does
	PastCapacity string // what adding more keys than asked for does
	UnionOnly    bool   // it merges, but cannot intersect
	Merging      string // what can be merged with what

	Maker

	// ReadSlow is Read with slow memory in a new file; nil if the kind cannot do that.
	ReadSlow func(src io.Reader, slowFile string) (filter.Filter, error)
}

// HasSlowFile reports whether filters of the kind can keep slow memory in a file.
func (k Kind) HasSlowFile() bool { return k.ReadSlow != nil }

// Abilities returns the optional interfaces that the kind's type has.
func (k Kind) Abilities() filter.Abilities { return filter.AbilitiesOf(k.Type) }

// ByName returns the kind of that name, or an error that lists the names.
func ByName(name string) (Kind, error) {
	var names []string
	for _, k := range All() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fault.In("kinds", "no kind is called %q: take %s", name, strings.Join(names, ", "))
}

// ByNumber returns the kind with that number in files.
func ByNumber(number frame.Kind) (Kind, error) {
	for _, k := range All() {
		if k.Number == number {
			return k, nil
		}
	}
	return Kind{}, frame.UnknownKind(number)
}

// Read reads a filter of whatever kind src holds.
func Read(src io.Reader) (filter.Filter, error) { return ReadSlow(src, "") }

// ReadSlow is Read with slow memory in a new file, unless the path is empty.
func ReadSlow(src io.Reader, slowFile string) (filter.Filter, error) {
	r, err := frame.Open(src)
	if err != nil {
		return nil, err
	}
	k, err := ByNumber(r.Header().Kind)
	if err != nil {
		return nil, err
	}
	switch {
	case slowFile == "":
		return k.Read(r)
	case !k.HasSlowFile():
		return nil, fault.Unsupported("kinds", k.Name, "keep slow memory in a file")
	}
	return k.ReadSlow(r, slowFile)
}
