// Package live draws a few lines on a terminal again and again, for work that is
// worth watching. Without a terminal it writes one plain line now and then.
package live

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Config is what a view shows, and where.
type Config struct {
	W     io.Writer
	Width func() int // of the terminal; nil if there is none

	// Frame returns the lines to show; it is called from another goroutine.
	Frame func() []string

	// Line returns the line to show where there is no terminal.
	Line func() string
}

// View is what is being drawn.
type View struct {
	config Config
	drawn  int // lines
	quit   chan struct{}
	gone   sync.WaitGroup
	once   sync.Once
}

// Times between two looks.
const (
	interval = 100 * time.Millisecond
	rarely   = 2 * time.Second
)

// Start begins to draw.
func Start(c Config) *View {
	v := &View{config: c, quit: make(chan struct{})}
	v.gone.Go(v.run)
	return v
}

// Stop draws once more and ends. It may be called twice.
func (v *View) Stop() {
	v.once.Do(func() {
		close(v.quit)
		v.gone.Wait()
	})
}

func (v *View) run() {
	every := interval
	if v.config.Width == nil {
		every = rarely
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.draw()
		case <-v.quit:
			v.draw()
			return
		}
	}
}

// draw shows how things are, over what was drawn before.
func (v *View) draw() {
	if v.config.Width == nil {
		_, _ = fmt.Fprintln(v.config.W, v.config.Line()) // a lost line is no loss
		return
	}
	var b strings.Builder
	if v.drawn > 0 {
		_, _ = fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	lines := v.config.Frame()
	for _, line := range lines {
		_, _ = fmt.Fprintf(&b, "\r%s\x1b[K\n", clip(line, v.config.Width()-1))
	}
	for range v.drawn - len(lines) { // what was there before
		b.WriteString("\r\x1b[K\n")
	}
	v.drawn = max(v.drawn, len(lines))
	_, _ = io.WriteString(v.config.W, b.String())
}

// clip keeps a line within the terminal, or it would take two.
func clip(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width)])
}

// Bar draws a share, 0 to 1, as a bar of so many characters.
func Bar(share float64, width int) string {
	full := int(min(1, max(0, share))*float64(width) + 0.5)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}
