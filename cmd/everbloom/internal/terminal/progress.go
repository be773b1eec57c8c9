package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// State is how far the work has come.
type State struct {
	Label string // what is being done
	Done  int64
	Total int64 // 0 if unknown

	// Bytes says that Done and Total are bytes and should be shown.
	Bytes bool

	Keys  uint64 // handled so far, not shown if 0
	Notes string // anything else
}

// StartProgress shows what state returns in one line.
func StartProgress(w io.Writer, width func() int, state func() State) *View {
	start := time.Now()
	return Start(w, width, func() []string { return []string{state().line(time.Since(start), width()-1)} })
}

const (
	gap      = "  "
	maxCells = 20
	minCells = 5 // a shorter bar says less than the number beside it
)

// line gives the state in one line of so many columns, after so much time. The
// bar gets the room that the words leave.
func (s State) line(elapsed time.Duration, columns int) string {
	words := strings.Join(s.words(elapsed), gap)
	room := columns - utf8.RuneCountInString(s.Label+gap+"[]"+gap+words)
	if s.Total > 0 && room >= minCells {
		words = bar(s.share(), min(room, maxCells)) + gap + words
	}
	return clip(strings.TrimSpace(s.Label+gap+words), columns)
}

// words are the parts of the line beside the bar.
func (s State) words(elapsed time.Duration) (words []string) {
	if s.Total > 0 {
		words = append(words, fmt.Sprintf("%3.0f %%", 100*s.share()))
	}
	if s.Bytes {
		words = append(words, s.bytes())
	}
	if s.Keys > 0 {
		speed := float64(s.Keys) / elapsed.Seconds()
		words = append(words, quantity.Short(float64(s.Keys))+" keys", quantity.Short(speed)+"/s")
	}
	if s.Notes != "" {
		words = append(words, s.Notes)
	}
	if left, ok := s.left(elapsed); ok {
		words = append(words, left+" left")
	}
	return words
}

// bytes tells the unit once if it is the same for both numbers.
func (s State) bytes() string {
	done, total := quantity.Bytes(float64(s.Done)), quantity.Bytes(float64(s.Total))
	if s.Total == 0 {
		return done
	}
	_, unit, _ := strings.Cut(total, " ")
	return strings.TrimSuffix(done, " "+unit) + " of " + total
}

// share is the part that is done; inputs that grow do not go beyond 1.
func (s State) share() float64 { return min(1, float64(s.Done)/float64(s.Total)) }

// left guesses the time to go from the time spent; ok is false while there is
// nothing to guess from. Parts of seconds would only flicker.
func (s State) left(elapsed time.Duration) (left string, ok bool) {
	if s.Total == 0 || s.Done == 0 {
		return "", false
	}
	guess := time.Duration(float64(elapsed) * (1 - s.share()) / s.share()).Round(time.Second)
	if guess < time.Minute {
		return fmt.Sprintf("%d s", guess/time.Second), true
	}
	return quantity.Duration(guess), true
}

func bar(share float64, cells int) string {
	full := int(share * float64(cells))
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", cells-full) + "]"
}
