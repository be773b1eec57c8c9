// Package terminal draws a few lines on a terminal again and again while work goes
// on, and removes them in the end. Where there is no terminal, a nil *View does
// nothing.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// View is what is being drawn.
type View struct {
	w     io.Writer
	width func() int // of the terminal
	frame func() []string

	mu    sync.Mutex // held while something is written
	drawn int        // lines
	quit  chan struct{}
	gone  sync.WaitGroup
	once  sync.Once
}

// interval is short enough to look alive.
const interval = 100 * time.Millisecond

// Start shows the lines that frame returns, several times a second, on a terminal
// that is width columns wide. Another goroutine calls frame. Work that ends before
// the first interval shows nothing.
func Start(w io.Writer, width func() int, frame func() []string) *View {
	v := &View{w: w, width: width, frame: frame, quit: make(chan struct{})}
	v.gone.Go(v.run)
	return v
}

// Stop removes what was drawn. It may be called twice.
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
			v.Draw()
		case <-v.quit:
			v.Aside(func() {})
			return
		}
	}
}

// Draw shows the lines at once.
func (v *View) Draw() { v.show(v.frame()) }

// show draws lines over what was drawn before. The cursor stays in the last one.
func (v *View) show(lines []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	clipped := make([]string, len(lines))
	for i, line := range lines {
		clipped[i] = "\r" + clip(line, v.width()-1) + "\x1b[K"
	}
	text := v.up() + strings.Join(clipped, "\n")
	if v.drawn > len(lines) {
		text += "\x1b[J"
	}
	v.drawn = len(lines)
	_, _ = io.WriteString(v.w, text) // a lost picture is no loss
}

// Aside removes the lines, calls write, which may write to the terminal, and lets the
// lines come back below.
func (v *View) Aside(write func()) {
	if v == nil {
		write()
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.drawn > 0 {
		_, _ = io.WriteString(v.w, v.up()+"\r\x1b[J")
	}
	v.drawn = 0
	write()
}

// up goes back to the first line that was drawn.
func (v *View) up() string {
	if v.drawn < 2 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", v.drawn-1)
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
