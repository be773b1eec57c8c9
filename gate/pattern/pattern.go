package pattern

import (
	"errors"
	"strings"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// MaxWords is the length of the longest pattern.
const MaxWords = 16

// A Pattern is a sequence of words that must not be sent.
type Pattern struct {
	Name  string   `json:"name"`
	Words []uint32 `json:"words"`
}

// check reports whether the pattern has a name and a length that is allowed.
func (p Pattern) check() error {
	if p.Name == "" {
		return fault.In("pattern", "a pattern has no name")
	}
	if strings.TrimSpace(p.Name) != p.Name || strings.ContainsAny(p.Name, ":#\n\r") {
		return fault.In("pattern", "name %q: no colon, # or line break, and no space at the ends", p.Name)
	}
	if n := len(p.Words); n < 1 || n > MaxWords {
		return fault.In("pattern", "%s: %d words, must be 1 to %d", p.Name, n, MaxWords)
	}
	return nil
}

// checkAll reports all problems of a list.
func checkAll(list []Pattern) error {
	var errs []error
	seen := make(map[string]bool, len(list))
	for _, p := range list {
		if err := p.check(); err != nil {
			errs = append(errs, err)
		}
		if seen[p.Name] {
			errs = append(errs, fault.In("pattern", "%s: two patterns of that name", p.Name))
		}
		seen[p.Name] = true
	}
	return errors.Join(errs...)
}
