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

func TestPacketsGoTheShortestWays(t *testing.T) {
	const network = "a b,b c,b d,d e,e a,"
	for _, c := range []struct{ packet, want string }{
		{"> a b", "a>b"},
		{"> a c d", "a>b b>c b>d"},
		{"> a c e", "a>b b>c a>e"},
		{"> c e a", "c>b b>a a>e"},
		{"> a b b", "a>b"},
		{"> a a", ""},
		{"> a", ""},
	} {
		var out strings.Builder
		err := run(strings.NewReader(strings.ReplaceAll(network+c.packet, ",", "\n")), &out)
		if got := strings.TrimSuffix(out.String(), "\n"); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.packet, got, err, c.want)
		}
	}
}

func TestBadLinesAreRefused(t *testing.T) {
	var chain strings.Builder
	for i := range 60 {
		fmt.Fprintln(&chain, i, i+1)
	}
	for _, c := range []struct{ in, want string }{
		{"a", "neither a link nor a packet"},
		{"", "neither"},
		{">", "neither"},
		{"a b c", "neither"},
		{"a b\n> a c", "no way from a to c"},
		{"a b\nc d\n> a b d", "no way from a to d"},
		{"a b\n> x a", "no way from x to a"},
		{chain.String() + "> 0 60", "too many links"},
	} {
		err := run(strings.NewReader(c.in+"\n> x a"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: got %v, want %q", c.in, err, c.want)
		}
	}
	if err := run(strings.NewReader(strings.Repeat("a", 1<<17)), io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
}

// TestEveryReceiverIsReached sends packets through a random network. Every receiver gets
// one, over links that exist, from a node that has one; and few go astray.
func TestEveryReceiverIsReached(t *testing.T) {
	const nodes, chords, packets, receivers = 400, 600, 100, 4
	rng := rand.New(rand.NewPCG(15, 16))
	random := func() string { return fmt.Sprint(rng.IntN(nodes)) }
	net := network{}
	join := func(from, to string) {
		if from != to && !slices.Contains(net[from], to) {
			net[from], net[to] = append(net[from], to), append(net[to], from)
		}
	}
	for i := range nodes {
		join(fmt.Sprint(i), fmt.Sprint((i+1)%nodes))
	}
	for range chords {
		join(random(), random())
	}
	sent := 0
	for range packets {
		source, to := random(), []string{random(), random(), random(), random()}
		var out strings.Builder
		if err := net.send(&out, source, to); err != nil {
			t.Fatal(err)
		}
		links := strings.Fields(out.String())
		reached := map[string]bool{source: true}
		for _, link := range links {
			a, b, _ := strings.Cut(link, ">")
			if !reached[a] || !slices.Contains(net[a], b) {
				t.Fatalf("from %s to %s: %s has no packet to send over %s", source, to, a, link)
			}
			reached[b] = true
		}
		for _, receiver := range to {
			if !reached[receiver] {
				t.Fatalf("from %s to %s: %s is not reached", source, to, receiver)
			}
		}
		sent += len(links)
	}
	if mean := float64(sent) / packets / receivers; mean > 4.5 {
		t.Errorf("%.1f transmissions for each receiver", mean)
	}
}
