package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

func forward(t *testing.T, ports int, frames ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := run(make(table, ports), strings.NewReader(strings.Join(frames, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

const (
	a         = " 02:00:00:00:00:0a"
	b         = " 02:00:00:00:00:0b"
	broadcast = " ff:ff:ff:ff:ff:ff"
)

func TestFramesGoWhereTheirStationIs(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []string
		want   string
	}{
		{"unknown: flooded, but not back", []string{"2" + a + b}, "1 3"},
		{"known", []string{"1" + a + b, "2" + b + a}, "1"},
		{"moved", []string{"1" + a + b, "3" + a + b, "2" + b + a}, "3"},
		{"moved back", []string{"1" + a + b, "3" + a + b, "1" + a + b, "2" + b + a}, "1"},
		{"both on one port: goes nowhere", []string{"1" + a + b, "1" + b + a}, ""},
		{"to all", []string{"1" + a + b, "2" + b + broadcast}, "1 3"},
		{"a group does not speak", []string{"1" + broadcast + b, "2" + b + broadcast}, "1 3"},
		{"other ways to write an address", []string{"1 0200.0000.000A" + b, "2" + b + " 02-00-00-00-00-0a"}, "1"},
	} {
		answers := forward(t, 3, c.frames...)
		if got := answers[len(answers)-1]; len(answers) != len(c.frames) || got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, answers, c.want)
		}
	}
}

// TestAllPortsThatClaimAStationGetItsFrames has a port with a false positive.
func TestAllPortsThatClaimAStationGetItsFrames(t *testing.T) {
	table := make(table, 4)
	if err := run(table, strings.NewReader("1 0200.0000.000a 0200.0000.000b"), io.Discard); err != nil {
		t.Fatal(err)
	}
	station := table[0].Hash().Bytes([]byte{2, 0, 0, 0, 0, 10})
	table[2].AddKey(station)
	if got := table.find(station, false, 3); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("claimed by ports 1 and 3, sent to %v", got)
	}
	if got := table.find(station, false, 2); !slices.Equal(got, []int{1}) {
		t.Errorf("claimed by port 1 and where it came from, sent to %v", got)
	}
}

func TestBadFramesAreNamed(t *testing.T) {
	for _, frame := range []string{"", "1", "1" + a, "0" + a + b, "4" + a + b, "-1" + a + b, "x" + a + b, "1 02:00" + b, "1" + a + " b"} {
		err := run(make(table, 3), strings.NewReader("1"+a+b+"\n"+frame+"\n"), io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", frame, err)
		}
	}
	if err := run(nil, strings.NewReader("1"+a+b), io.Discard); err == nil {
		t.Error("a switch without ports forwarded a frame")
	}
	if err := run(make(table, 1), strings.NewReader(strings.Repeat("1", 1<<17)), io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
}

// TestMovesNeverLoseAStation lets stations send from changing ports. A frame goes to the
// port of its destination, among others at most; and in the end every port has exactly
// its stations.
func TestMovesNeverLoseAStation(t *testing.T) {
	const ports = 8
	const stations, speeches = 700, 5_000
	rng := rand.New(rand.NewPCG(3, 4))
	station := func() string { return fmt.Sprintf("0200.0000.%04x", rng.IntN(stations)) }
	at := map[string]int{}
	var frames []string
	var want []int // the destination's port; 0 if it has not sent
	for range speeches {
		src, dst, port := station(), station(), 1+rng.IntN(ports)
		at[src] = port
		frames, want = append(frames, fmt.Sprint(port, " ", src, " ", dst)), append(want, at[dst])
	}
	table := make(table, ports)
	var out strings.Builder
	if err := run(table, strings.NewReader(strings.Join(frames, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	var others int
	for i, answer := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		var from int
		fmt.Sscan(frames[i], &from)
		to := strings.Fields(answer)
		found := slices.Contains(to, fmt.Sprint(want[i]))
		switch {
		case want[i] == 0 && len(to) != ports-1:
			others++
		case want[i] != 0 && want[i] != from && !found:
			t.Fatalf("frame %q went to %q, and not to port %d", frames[i], answer, want[i])
		case want[i] != 0 && len(to) > 1:
			others++
		}
	}
	if others > 10 { // 8 filters, wrong once in 1e5: less than one frame of 5,000
		t.Errorf("%d frames went to wrong ports", others)
	}
	var count [ports]uint64
	for _, port := range at {
		count[port-1]++
	}
	for i, set := range table {
		if set.Len() != count[i] {
			t.Errorf("port %d has %d stations, and should have %d", i+1, set.Len(), count[i])
		}
	}
}
