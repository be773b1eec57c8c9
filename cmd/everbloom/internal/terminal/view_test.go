package terminal

import (
	"bytes"
	"testing"
)

// TestFramesAreDrawnOverEachOther: each begins in the first line of the one before, erases
// the rest of its own lines, and all lines of a longer one; nothing is left in the end.
func TestFramesAreDrawnOverEachOther(t *testing.T) {
	var out bytes.Buffer
	v := &View{w: &out, width: func() int { return 11 }}
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() { v.show([]string{"a", "bb", "ccc"}) }, "\ra\x1b[K\n\rbb\x1b[K\n\rccc\x1b[K"},
		{func() { v.show([]string{"dddddddddddddd", "e"}) }, "\r\x1b[2A\rdddddddddd\x1b[K\n\re\x1b[K\x1b[J"},
		{func() { v.show([]string{"f", "g"}) }, "\r\x1b[1A\rf\x1b[K\n\rg\x1b[K"},
		{func() { v.Aside(func() {}) }, "\r\x1b[1A\r\x1b[J"},
		{func() { v.Aside(func() {}) }, ""},
		{func() { v.show([]string{"h"}) }, "\rh\x1b[K"},
	} {
		out.Reset()
		if c.do(); out.String() != c.want {
			t.Errorf("%q, want %q", out.String(), c.want)
		}
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
