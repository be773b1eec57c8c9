package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

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

// TestHistoryIsFollowed adds and deletes addresses at random, and asks about all that
// were ever on the list: what is on it is black, and of the rest one in a thousand.
func TestHistoryIsFollowed(t *testing.T) {
	const changes = 20_000
	rng := rand.New(rand.NewPCG(1, 2))
	var lines, listed, asked []string
	black := map[string]bool{}
	for i := range changes {
		if n := len(listed); n > 0 && rng.IntN(2) == 0 {
			j := rng.IntN(n)
			lines, black[listed[j]] = append(lines, "-"+listed[j]), false
			listed[j] = listed[n-1]
			listed = listed[:n-1]
			continue
		}
		a := fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		lines, listed, asked, black[a] = append(lines, "+"+a), append(listed, a), append(asked, a), true
	}
	answers := run(t, append(lines, asked...)...)
	wrong := 0
	for i, a := range asked {
		said := answers[i] == a+" black"
		if black[a] && !said {
			t.Fatalf("on the list: %s", answers[i])
		}
		if !black[a] && said {
			wrong++
		}
	}
	// About 10 are expected; these are five standard deviations more.
	if wrong > 26 || len(answers) != len(asked) {
		t.Errorf("%d of %d addresses that are gone are called black", wrong, len(asked)-len(listed))
	}
}
