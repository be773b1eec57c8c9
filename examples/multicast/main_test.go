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
	"github.com/everbloom-go/everbloom/internal/inpacket"
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
		err := run(strings.NewReader(c.in+"\n> nobody a"), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: got %v, want %q", c.in, err, c.want)
		}
	}
	if err := run(strings.NewReader(strings.Repeat("a", 1<<17)), io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
}

// TestEveryReceiverIsReached sends packets through random networks. Every receiver gets
// one, over links that exist, from a node that has one; and few go astray.
func TestEveryReceiverIsReached(t *testing.T) {
	const nodes, chords, packets, receivers = 400, 600, 300, 4
	rng := rand.New(rand.NewPCG(15, 16))
	net := network{}
	join := func(a, b int) {
		from, to := fmt.Sprint(a), fmt.Sprint(b)
		if a != b && !slices.Contains(net[from], to) {
			net[from], net[to] = append(net[from], to), append(net[to], from)
		}
	}
	for i := range nodes {
		join(i, (i+1)%nodes)
	}
	for range chords {
		join(rng.IntN(nodes), rng.IntN(nodes))
	}
	format, err := inpacket.New(inpacket.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var sent, needed int
	for range packets {
		source, to := fmt.Sprint(rng.IntN(nodes)), make([]string, receivers)
		for i := range to {
			to[i] = fmt.Sprint(rng.IntN(nodes))
		}
		links, err := net.send(format, source, to)
		if err != nil {
			t.Fatal(err)
		}
		reached := map[string]bool{source: true}
		for _, link := range links {
			a, b, _ := strings.Cut(link, ">")
			if !reached[a] || !slices.Contains(net[a], b) {
				t.Fatalf("from %s to %s: nobody could send over %s", source, to, link)
			}
			reached[b] = true
		}
		for _, receiver := range to {
			if !reached[receiver] {
				t.Fatalf("from %s to %s: %s was not reached", source, to, receiver)
			}
		}
		sent += len(links)
		needed += len(tree(net, source, to))
	}
	t.Logf("%d transmissions, %d of them needed", sent, needed)
	if sent < needed || sent > needed+needed/20 {
		t.Errorf("%d transmissions, %d of them needed", sent, needed)
	}
}

// tree returns the links of the shortest ways, found the slow way: a link is on the way
// if it is the first that leads to its end.
func tree(net network, source string, receivers []string) map[string]bool {
	before, queue := map[string]string{}, []string{source}
	for i := 0; i < len(queue); i++ {
		for _, next := range net[queue[i]] {
			if before[next] == "" && next != source {
				before[next] = queue[i]
				queue = append(queue, next)
			}
		}
	}
	links := map[string]bool{}
	for _, node := range receivers {
		for ; node != source; node = before[node] {
			links[before[node]+">"+node] = true
		}
	}
	return links
}
