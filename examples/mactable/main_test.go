package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
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

// TestAllPortsThatClaimAStationGetItsFrames has a port claim what it has not got, as
// filters do now and then.
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

// TestMovesNeverLoseAStation lets stations speak from changing ports. What a frame's
// destination said last tells where the frame must go, among others at most; and in the
// end every port has exactly its stations.
func TestMovesNeverLoseAStation(t *testing.T) {
	const ports = 8
	speeches := effort.Pick(5_000, 20_000)
	rng := rand.New(rand.NewPCG(3, 4))
	stations := makeStations(t, rng, speeches/7)
	at := map[string]int{}
	var frames []string
	var want []int // the destination's port; 0 if it has not spoken
	for range speeches {
		src, dst, port := stations[rng.IntN(len(stations))], stations[rng.IntN(len(stations))], 1+rng.IntN(ports)
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
	if others > 15 { // 8 filters, wrong once in 1e5: one or two frames of 20,000
		t.Errorf("%d frames went to ports that they had no business with", others)
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

// makeStations returns addresses of the makers that are registered, if the list is at
// hand, and otherwise of one.
func makeStations(t *testing.T, rng *rand.Rand, n int) []string {
	t.Helper()
	makers := []string{"020000"}
	if folder := os.Getenv("EVERBLOOM_DATA"); folder != "" {
		makers = registered(t, filepath.Join(folder, "mac", "ieee-oui.csv.gz"))
	}
	stations := make([]string, n)
	for i := range stations {
		maker := makers[rng.IntN(len(makers))]
		serial := fmt.Sprintf("%06x", i)
		stations[i] = maker[:4] + "." + maker[4:] + serial[:2] + "." + serial[2:]
	}
	return stations
}

func registered(t *testing.T, path string) (makers []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		makers = append(makers, row[1])
	}
	return makers
}
