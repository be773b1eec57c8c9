package terminal

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLineTellsWhatIsKnown(t *testing.T) {
	building := State{Label: "build", Bytes: true, Done: 1 << 20, Total: 4 << 20, Keys: 5_000_000, Notes: "rate 0.1 %"}
	for _, c := range []struct {
		state   State
		columns int
		want    string
	}{
		{State{Label: "work"}, 80, "work"},
		{State{Label: "read", Bytes: true, Done: 2048}, 80, "read  2.00 KiB"},
		{State{Label: "count", Total: 10}, 80, "count  [....................]    0 %"},
		{State{Label: "over", Done: 30, Total: 20}, 80, "over  [####################]  100 %  0 s left"},
		{State{Label: "mixed", Bytes: true, Done: 2048, Total: 4 << 20}, 30, "mixed    0 %  2.00 KiB of 4.00"},
		{building, 120, "build  [#####...............]   25 %  1.00 of 4.00 MiB  5.00 M keys  2.50 M/s  rate 0.1 %  6 s left"},
		{building, 85, "build  [#.....]   25 %  1.00 of 4.00 MiB  5.00 M keys  2.50 M/s  rate 0.1 %  6 s left"},
		{building, 75, "build   25 %  1.00 of 4.00 MiB  5.00 M keys  2.50 M/s  rate 0.1 %  6 s left"},
		{building, 50, "build   25 %  1.00 of 4.00 MiB  5.00 M keys  2.50 "},
		{State{Label: "long", Done: 1, Total: 100}, 80, "long  [....................]    1 %  3 min 18 s left"},
	} {
		if got := c.state.line(2*time.Second, c.columns); got != c.want {
			t.Errorf("%d columns:\ngot  %q\nwant %q", c.columns, got, c.want)
		}
	}
}

// buffer tells when it is first written to. Tests look at it while nothing is drawn.
type buffer struct {
	text bytes.Buffer
	seen chan struct{}
	once sync.Once
}

func (b *buffer) Write(p []byte) (int, error) {
	defer b.once.Do(func() { close(b.seen) })
	return b.text.Write(p)
}

func TestProgressIsDrawnAndMakesRoomForOthers(t *testing.T) {
	out := &buffer{seen: make(chan struct{})}
	v := StartProgress(out, func() int { return 10 }, func() State { return State{Label: "a long label"} })
	<-out.seen
	v.Aside(func() { out.text.WriteString("a result\n") })
	v.Stop()
	v.Stop()
	text := out.text.String()
	if !strings.HasPrefix(text, "\ra long la\x1b[K") || !strings.Contains(text, "\r\x1b[Ja result\n") {
		t.Errorf("drawn: %q", text)
	}
	if end := text[strings.LastIndex(text, "\r"):]; !strings.HasPrefix(end, "\r\x1b[J") {
		t.Errorf("not removed: %q", text)
	}
}

func TestNilViewOnlyLetsOthersPrint(t *testing.T) {
	var v *View
	printed := false
	v.Aside(func() { printed = true })
	v.Stop()
	if !printed {
		t.Error("nothing was printed")
	}
}
