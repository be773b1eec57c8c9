package live

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// terminal understands the few codes that a view uses.
type terminal struct {
	sync.Mutex
	text bytes.Buffer
}

func (t *terminal) Write(p []byte) (int, error) {
	t.Lock()
	defer t.Unlock()
	return t.text.Write(p)
}

// screen returns what one sees in the end.
func (t *terminal) screen() []string {
	t.Lock()
	defer t.Unlock()
	var lines []string
	row := 0
	for rest := t.text.String(); rest != ""; {
		if up, after, ok := strings.Cut(rest, "A"); ok && strings.HasPrefix(up, "\r\x1b[") && len(up) == 4 {
			row -= int(up[3] - '0')
			rest = after
			continue
		}
		if after, ok := strings.CutPrefix(rest, "\x1b[J"); ok {
			lines = lines[:row]
			rest = after
			continue
		}
		line, after, _ := strings.Cut(rest, "\n")
		for len(lines) <= row {
			lines = append(lines, "")
		}
		lines[row] = strings.TrimSuffix(strings.TrimPrefix(line, "\r"), "\x1b[K")
		row++
		rest = after
	}
	return lines
}

func TestFramesAreDrawnOverEachOther(t *testing.T) {
	var out terminal
	v := &View{config: Config{W: &out, Width: func() int { return 11 }}}
	for _, frame := range [][]string{{"a", "bb", "ccc"}, {"dddddddddddddd", "e"}, {"f", "g"}} {
		v.draw(frame)
	}
	if got := strings.Join(out.screen(), "|"); got != "f|g|" {
		t.Errorf("screen: %q", got)
	}
	v.erase()
	v.erase()
	if got := out.screen(); len(got) != 0 {
		t.Errorf("screen after the end: %q", got)
	}
}

func TestLongLinesAreClipped(t *testing.T) {
	for _, c := range []struct {
		line  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"äöü█", 3, "äöü"}, {"x", 0, ""}, {"x", -5, ""}} {
		if got := clip(c.line, c.width); got != c.want {
			t.Errorf("%q within %d: %q", c.line, c.width, got)
		}
	}
}

func TestViewDrawsWhileOthersWork(t *testing.T) {
	var out terminal
	drawn := make(chan bool, 1000)
	v := Start(Config{W: &out, Width: func() int { return 80 }, Frame: func() []string {
		drawn <- true
		return []string{"now"}
	}})
	select {
	case <-drawn:
	case <-time.After(time.Minute):
		t.Error("nothing is drawn")
	}
	v.Stop()
	v.Stop()
	if !strings.Contains(out.text.String(), "now") || len(out.screen()) != 0 {
		t.Errorf("%q", out.text.String())
	}
}

func TestBarsAreAsLongAsTheirShare(t *testing.T) {
	for share, want := range map[float64]string{0: "░░░░", 0.5: "██░░", 1: "████", 7: "████", -1: "░░░░", 0.13: "█░░░"} {
		if got := Bar(share, 4); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}
