package terminal

import (
	"bytes"
	"strings"
	"testing"
)

// screen returns what is seen in the end. It understands the few codes that a view uses.
func screen(text string) []string {
	lines, row := []string{""}, 0
	for rest := text; rest != ""; {
		if up, after, ok := strings.Cut(rest, "A"); ok && strings.HasPrefix(up, "\r\x1b[") && len(up) == 4 {
			row -= int(up[3] - '0')
			rest = after
			continue
		}
		if after, ok := strings.CutPrefix(rest, "\x1b[J"); ok {
			lines = lines[:row+1]
			rest = after
			continue
		}
		if after, ok := strings.CutPrefix(rest, "\n"); ok {
			row++
			lines = append(lines, make([]string, max(0, row+1-len(lines)))...)
			rest = after
			continue
		}
		end := strings.IndexAny(rest[1:], "\r\n") + 1
		if end == 0 {
			end = len(rest)
		}
		line, erased, cut := strings.Cut(rest[:end], "\x1b[")
		lines[row] = strings.TrimPrefix(line, "\r")
		if cut && strings.Contains(erased, "J") {
			lines = lines[:row+1]
		}
		rest = rest[end:]
	}
	return lines
}

func TestFramesAreDrawnOverEachOther(t *testing.T) {
	var out bytes.Buffer
	v := &View{w: &out, width: func() int { return 11 }}
	for _, frame := range [][]string{{"a", "bb", "ccc"}, {"dddddddddddddd", "e"}, {"f", "g"}} {
		v.show(frame)
	}
	if got := strings.Join(screen(out.String()), "|"); got != "f|g" {
		t.Errorf("screen: %q", got)
	}
	v.Aside(func() {})
	v.Aside(func() {})
	if got := strings.Join(screen(out.String()), "|"); got != "" {
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

func TestBarsAreAsLongAsTheirShare(t *testing.T) {
	for share, want := range map[float64]string{0: "░░░░", 0.5: "██░░", 1: "████", 7: "████", -1: "░░░░", 0.13: "█░░░"} {
		if got := Bar(share, 4); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}
