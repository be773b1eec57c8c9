// Package live draws a few lines on a terminal again and again, for work that is
// worth watching, and removes them in the end.
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
	Width func() int // of the terminal

	// Frame returns the lines to show; it is called from another goroutine.
	Frame func() []string
}

// View is what is being drawn.
type View struct {
	config Config
	drawn  int // lines
	quit   chan struct{}
	gone   sync.WaitGroup
	once   sync.Once
}

// interval lies between two looks.
const interval = 100 * time.Millisecond

// Start begins to draw.
func Start(c Config) *View {
	v := &View{config: c, quit: make(chan struct{})}
	v.gone.Go(v.run)
	return v
}

// Stop removes what was drawn. It may be called twice, and on a nil View.
func (v *View) Stop() {
	if v == nil {
		return
	}
	v.once.Do(func() {
		close(v.quit)
		v.gone.Wait()
	})
}

func (v *View) run() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.draw(v.config.Frame())
		case <-v.quit:
			v.draw(v.config.Frame()) // also of work that was over before the first look
			v.erase()
			return
		}
	}
}

// draw shows lines, over what was drawn before.
func (v *View) draw(lines []string) {
	var b strings.Builder
	v.up(&b)
	for _, line := range lines {
		_, _ = fmt.Fprintf(&b, "\r%s\x1b[K\n", clip(line, v.config.Width()-1))
	}
	for range v.drawn - len(lines) { // what was there before
		b.WriteString("\r\x1b[K\n")
	}
	v.drawn = max(v.drawn, len(lines))
	_, _ = io.WriteString(v.config.W, b.String()) // a lost picture is no loss
}

// erase leaves the terminal as it was before the first picture.
func (v *View) erase() {
	var b strings.Builder
	v.up(&b)
	b.WriteString("\x1b[J")
	v.drawn = 0
	_, _ = io.WriteString(v.config.W, b.String())
}

// up goes back to the first line that was drawn.
func (v *View) up(b *strings.Builder) {
	if v.drawn > 0 {
		_, _ = fmt.Fprintf(b, "\r\x1b[%dA", v.drawn)
	}
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
