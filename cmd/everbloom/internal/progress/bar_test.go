package progress

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

func TestLineIsCutToTheWidth(t *testing.T) {
	if got := fit("größer", 3); got != "grö" {
		t.Errorf("got %q", got)
	}
	if got := fit("unknown width", 0); got != "unknown width" {
		t.Errorf("got %q", got)
	}
}

// buffer may be written to and looked at by different goroutines.
type buffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	seen chan struct{}
	once sync.Once
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.once.Do(func() { close(b.seen) })
	return b.b.Write(p)
}

func TestBarIsDrawnAndRemoved(t *testing.T) {
	out := &buffer{seen: make(chan struct{})}
	b := Start(out, func() int { return 10 }, func() State { return State{Label: "a long label"} })
	<-out.seen
	b.Stop()
	b.Stop()
	text := out.b.String()
	if !strings.HasPrefix(text, "\ra long la\x1b[K") {
		t.Errorf("drawn: %q", text)
	}
	if !strings.HasSuffix(text, "\r\x1b[K") {
		t.Errorf("not removed: %q", text)
	}
}

func TestLineMakesRoomForOthers(t *testing.T) {
	out := &buffer{seen: make(chan struct{})}
	b := Start(out, func() int { return 20 }, func() State { return State{Label: "work"} })
	<-out.seen
	b.Aside(func() { out.b.WriteString("a result\n") }) // out is ours meanwhile
	b.Stop()
	if text := out.b.String(); !strings.Contains(text, "\rwork\x1b[K\r\x1b[Ka result\n") {
		t.Errorf("%q", text)
	}
}

func TestNilBarOnlyLetsOthersPrint(t *testing.T) {
	var b *Bar
	printed := false
	b.Aside(func() { printed = true })
	b.Stop()
	if !printed {
		t.Error("nothing was printed")
	}
}
