// Package progress draws one line that says how far a long piece of work has
// come. Whoever has no terminal to draw on uses a nil *Bar, which does nothing.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
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

// Bar is a line on a terminal.
type Bar struct {
	w     io.Writer
	width func() int
	state func() State
	start time.Time
	mu    sync.Mutex // held while something is written
	quit  chan struct{}
	gone  sync.WaitGroup
	once  sync.Once
}

// interval is short enough to look alive.
const interval = 100 * time.Millisecond

// Start shows what state returns, several times a second, on a terminal that is
// width columns wide. The function is called from another goroutine.
func Start(w io.Writer, width func() int, state func() State) *Bar {
	b := &Bar{w: w, width: width, state: state, start: time.Now(), quit: make(chan struct{})}
	b.gone.Go(b.run)
	return b
}

// Stop removes the line. It may be called twice.
func (b *Bar) Stop() {
	if b == nil {
		return
	}
	b.once.Do(func() {
		close(b.quit)
		b.gone.Wait()
	})
}

// run draws until Stop. Work that is over at once shows nothing.
func (b *Bar) run() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	drawn := false
	for {
		select {
		case <-tick.C:
			line := b.state().line(time.Since(b.start), b.width()-1)
			b.write("\r" + line + "\x1b[K")
			drawn = true
		case <-b.quit:
			if drawn {
				b.write(removed)
			}
			return
		}
	}
}

// removed takes the line away.
const removed = "\r\x1b[K"

// write ignores errors: a lost line is no loss.
func (b *Bar) write(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.w.Write([]byte(text))
}

// Aside removes the line, calls write, which may write to the terminal, and lets
// the line come back below.
func (b *Bar) Aside(write func()) {
	if b == nil {
		write()
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.w.Write([]byte(removed))
	write()
}

// fit cuts off what would wrap onto a second line, which could not be removed.
func fit(line string, columns int) string {
	for columns > 0 && utf8.RuneCountInString(line) > columns {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return line
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
	return fit(strings.TrimSpace(s.Label+gap+words), columns)
}

// words are the parts of the line that everybody wants to read.
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
