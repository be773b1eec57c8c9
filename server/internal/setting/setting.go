// Package setting is the one table of a server's settings. Each is a flag, a variable of
// the environment, a line of a file and, for clients, a parameter of CONFIG.
package setting

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// A Kind says what the value of a setting is.
type Kind uint8

// The kinds.
const (
	Text Kind = iota
	Number
	Bytes
	Rate
	Switch // yes or no
	Choice
)

// A Setting is one row of the table.
type Setting struct {
	Name    string
	Kind    Kind
	Default string
	Help    string
	Value   string   // what a Text is, in the help
	Mutable bool     // by CONFIG SET
	Fixed   bool     // it only tells clients of Redis what they want to know
	Off     bool     // -1 is a value of the Number, too
	Min     uint64   // of a Number
	Max     uint64   // of a Number; 0 means no limit
	Choices []string // of a Choice
}

// Settings are the values. They are safe for use by many goroutines.
type Settings struct {
	mu     sync.RWMutex
	values map[string]string
}

// New returns the defaults.
func New() *Settings {
	s := &Settings{values: make(map[string]string)}
	for _, row := range Table() {
		s.values[row.Name], _ = row.check(row.Default) // tests see that they are valid
	}
	return s
}

// ErrUnknown is matched by errors about settings that do not exist.
var ErrUnknown = errors.New("unknown setting")

// find returns the row of a name, in any case.
func find(name string) (Setting, error) {
	for _, row := range Table() {
		if strings.EqualFold(row.Name, name) {
			return row, nil
		}
	}
	return Setting{}, fmt.Errorf("setting: %s: %w", name, ErrUnknown)
}

// Set gives a setting a value.
func (s *Settings) Set(name, value string) error {
	row, err := find(name)
	if err != nil {
		return err
	}
	if row.Fixed {
		return fmt.Errorf("setting: %s cannot be changed", row.Name)
	}
	if err := row.Check(value); err != nil {
		return fmt.Errorf("setting: %s %w", row.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[row.Name], _ = row.check(value) // as Check has found
	return nil
}

// Change is Set for settings that may be changed while the server runs. All of them are
// changed or none; the error says which is at fault.
func (s *Settings) Change(pairs [][2]string) (at string, err error) {
	checked := make(map[string]string)
	for _, p := range pairs {
		row, err := find(p[0])
		switch {
		case err != nil:
			return p[0], err
		case !row.Mutable || row.Fixed:
			return p[0], errors.New("can't set immutable config")
		}
		if checked[row.Name], err = row.check(p[1]); err != nil {
			return p[0], err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.values, checked)
	return "", nil
}

// Check says what is wrong with a value, and which values are right.
func (row Setting) Check(value string) error {
	if _, err := row.check(value); err != nil {
		return fmt.Errorf("%q: %s", value, row.wants())
	}
	return nil
}

// Type names the values of a setting in the help.
func (row Setting) Type() string {
	switch row.Kind {
	case Number:
		return "N"
	case Bytes:
		return "SIZE"
	case Rate:
		return "RATE"
	case Switch:
		return "yes|no"
	case Choice:
		return strings.Join(row.Choices, "|")
	}
	return row.Value
}

// wants says which values a setting may have.
func (row Setting) wants() string {
	switch row.Kind {
	case Number:
		text := fmt.Sprintf("must be a whole number from %d to %d", row.Min, row.most())
		if row.Off {
			text += ", or -1"
		}
		return text
	case Bytes:
		return "must be a number of bytes, such as 100mb or 4GiB"
	case Rate:
		return "must be a number above 0 and below 1"
	}
	return "must be one of " + strings.Join(strings.Split(row.Type(), "|"), ", ")
}

// most returns the largest value of a Number.
func (row Setting) most() uint64 {
	if row.Max == 0 {
		return math.MaxInt64
	}
	return row.Max
}

// checkNumber returns a whole number as it is stored.
func (row Setting) checkNumber(value string) (string, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", errors.New("argument couldn't be parsed into an integer")
	}
	if row.Off && n == -1 {
		return value, nil
	}
	if n < int64(row.Min) || uint64(n) > row.most() {
		return "", fmt.Errorf("argument must be between %d and %d inclusive", row.Min, row.most())
	}
	return strconv.FormatInt(n, 10), nil
}

// check returns a value as it is stored. Its errors are those of CONFIG SET.
func (row Setting) check(value string) (string, error) {
	switch row.Kind {
	case Number:
		return row.checkNumber(value)
	case Bytes:
		n, err := parseBytes(value)
		if err != nil {
			return "", errors.New("argument must be a memory value")
		}
		return strconv.FormatUint(n, 10), nil
	case Rate:
		p, err := strconv.ParseFloat(value, 64)
		if err != nil || !(p > 0 && p < 1) {
			return "", errors.New("argument must be between 0 and 1 exclusive")
		}
	case Switch:
		if value = strings.ToLower(value); value != "yes" && value != "no" {
			return "", errors.New("argument must be 'yes' or 'no'")
		}
	case Choice:
		if value = strings.ToLower(value); !slices.Contains(row.Choices, value) {
			return "", fmt.Errorf("argument(s) must be one of the following: %s", strings.Join(row.Choices, ", "))
		}
	}
	return value, nil
}

// parseBytes understands what Redis does, 100mb, and what the tool does, 100MiB.
func parseBytes(text string) (uint64, error) {
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return n, nil
	}
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if digits, ok := strings.CutSuffix(strings.ToLower(text), strings.ToLower(unit[:1]+"b")); ok {
			return quantity.ParseBytes(digits + unit)
		}
	}
	return quantity.ParseBytes(text)
}

// Get returns the value of a setting, which must exist.
func (s *Settings) Get(name string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.values[name]
}

// Number returns the value of a Number or of Bytes.
func (s *Settings) Number(name string) uint64 {
	n, _ := strconv.ParseInt(s.Get(name), 10, 64) // it was checked
	return uint64(n)
}

// Rate returns the value of a Rate.
func (s *Settings) Rate(name string) float64 {
	p, _ := strconv.ParseFloat(s.Get(name), 64) // it was checked
	return p
}

// On returns the value of a Switch.
func (s *Settings) On(name string) bool { return s.Get(name) == "yes" }

// Match returns the settings whose names match a pattern of path.Match, in any case.
func (s *Settings) Match(pattern string) (found [][2]string) {
	for _, row := range Table() {
		if ok, err := path.Match(strings.ToLower(pattern), row.Name); ok && err == nil {
			found = append(found, [2]string{row.Name, s.Get(row.Name)})
		}
	}
	return found
}

// Variable returns the name of a setting in the environment.
func (row Setting) Variable() string {
	return "EVERBLOOM_" + strings.ToUpper(strings.ReplaceAll(row.Name, "-", "_"))
}

// FromEnvironment takes settings from variables.
func (s *Settings) FromEnvironment(lookup func(string) (string, bool)) error {
	for _, row := range Table() {
		if value, ok := lookup(row.Variable()); ok && !row.Fixed {
			if err := s.Set(row.Name, value); err != nil {
				return fmt.Errorf("%s: %w", row.Variable(), err)
			}
		}
	}
	return nil
}

// FromFile takes settings from lines of a name and a value. Empty lines and those that
// begin with # are passed over.
func (s *Settings) FromFile(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value := line, ""
		if i := strings.IndexAny(line, " \t"); i >= 0 {
			name, value = line[:i], line[i+1:]
		}
		if err := s.Set(name, strings.TrimSpace(value)); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}
