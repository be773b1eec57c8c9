package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaissmai/bart"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

// run returns the answers to lines.
func run(t *testing.T, lines ...string) []string {
	t.Helper()
	var out strings.Builder
	if err := judge(strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestListsAreFollowed(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines string
		want  string
	}{
		{"address", "+10.0.0.1 10.0.0.1", "10.0.0.1 black"},
		{"taken off", "+10.0.0.1 -10.0.0.1 10.0.0.1", "10.0.0.1 unlisted"},
		{"put on twice, taken off once", "+::1 +::1 -::1 ::1", "::1 unlisted"},
		{"never on", "-10.0.0.1", "10.0.0.1 was not listed"},
		{"network", "+10.0.0.0/8 10.255.255.255 11.0.0.0", "10.255.255.255 black\n11.0.0.0 unlisted"},
		{"network with host bits", "+10.1.2.3/8 10.0.0.0", "10.0.0.0 black"},
		{"network taken off", "+10.0.0.0/8 -10.0.0.0/8 10.0.0.1", "10.0.0.1 unlisted"},
		{"network of one", "+10.0.0.1/32 10.0.0.1 -10.0.0.1 10.0.0.1", "10.0.0.1 black\n10.0.0.1 unlisted"},
		{"everything", "+0.0.0.0/0 255.255.255.255 ::", "255.255.255.255 black\n:: unlisted"},
		{"white address in black network", "+10.0.0.0/8 =10.0.0.1 10.0.0.1 10.0.0.2", "10.0.0.1 white\n10.0.0.2 black"},
		{"white network", "+2001:db8::1 =2001:db8::/32 2001:db8::1", "2001:db8::1 white"},
		{"IPv4 written as IPv6", "+10.0.0.1 ::ffff:10.0.0.1", "::ffff:10.0.0.1 black"},
		{"remarks", "#10.0.0.1 @1768183181 10.0.0.1", "10.0.0.1 unlisted"},
	} {
		if got := strings.Join(run(t, strings.Fields(c.lines)...), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := run(t, "", "10.0.0.1", ""); len(got) != 1 {
		t.Errorf("empty lines were answered: %q", got)
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	for _, line := range []string{"10.0.0", "+", "=", "++10.0.0.1", "10.0.0.0/8", "-10.0.0.1/33", "*10.0.0.1", "example.org", "+::ffff:10.0.0.0/104", "=::ffff:10.0.0.0/104", "+10.0.0.1 "} {
		err := judge(strings.NewReader("+10.0.0.1\n"+line+"\n"), new(strings.Builder))
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if err := judge(strings.NewReader(strings.Repeat("1", 1<<17)), new(strings.Builder)); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	if err := judge(strings.NewReader("10.0.0.1"), closed{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("an output that is closed: %v", err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }

// TestHistoryIsFollowed plays changes, and asks about all that was ever on the list:
// what is on it is black, and of the rest one in a thousand.
func TestHistoryIsFollowed(t *testing.T) {
	histories := map[string][]string{"generated": generated(50_000)}
	if folder := os.Getenv("EVERBLOOM_DATA"); folder != "" && effort.Long() {
		histories["real"] = recorded(t, filepath.Join(folder, "ip", "bitwire-outbound-churn.txt.gz"))
	}
	for name, changes := range histories {
		t.Run(name, func(t *testing.T) { follow(t, changes) })
	}
}

func follow(t *testing.T, changes []string) {
	t.Helper()
	ever, networks := outcome(changes)
	asked := slices.Collect(maps.Keys(ever))
	answers := run(t, slices.Concat(changes, asked)...)
	if len(answers) != len(asked) {
		t.Fatalf("%d answers to %d questions", len(answers), len(asked))
	}
	var wrong, gone int
	for i, a := range asked {
		listed := ever[a] || networks.Contains(netip.MustParseAddr(a))
		black := answers[i] == a+" black"
		if listed && !black {
			t.Fatalf("on the list: %s", answers[i])
		}
		if !listed {
			gone++
		}
		if !listed && black {
			wrong++
		}
	}
	// Five standard deviations above a thousandth.
	t.Logf("%d of %d addresses that are gone are called black", wrong, gone)
	if mean := float64(gone) / 1000; float64(wrong) > mean+5*math.Sqrt(mean) {
		t.Errorf("%d of %d addresses that are gone are called black", wrong, gone)
	}
}

// outcome returns, exactly, which of the addresses are on the list in the end, and
// which networks.
func outcome(changes []string) (addresses map[string]bool, networks *bart.Lite) {
	addresses, networks = map[string]bool{}, new(bart.Lite)
	for _, c := range changes {
		p, err := netip.ParsePrefix(c[1:])
		switch {
		case c[0] == '@':
		case err != nil:
			addresses[c[1:]] = c[0] == '+'
		case c[0] == '+':
			networks.Insert(p)
		default:
			networks.Delete(p)
		}
	}
	return addresses, networks
}

// generated makes a history in which half of the changes take an address off.
func generated(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	var listed, changes []string
	for range n {
		if i := len(listed); i > 0 && rng.IntN(2) == 0 {
			j := rng.IntN(i)
			changes = append(changes, "-"+listed[j])
			listed[j] = listed[i-1]
			listed = listed[:i-1]
			continue
		}
		a := fmt.Sprintf("10.%d.%d.%d", len(changes)>>16, len(changes)>>8&255, len(changes)&255)
		listed, changes = append(listed, a), append(changes, "+"+a)
	}
	return changes
}

func recorded(t *testing.T, path string) []string {
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
	var changes []string
	for lines := bufio.NewScanner(z); lines.Scan(); {
		changes = append(changes, lines.Text())
	}
	return changes
}
