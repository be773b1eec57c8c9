package main

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/gaissmai/bart"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

func TestLongestPrefixWins(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
	}{
		{"none", "1.2.3.4", "1.2.3.4 no route"},
		{"one", "1.0.0.0/8 a,1.2.3.4", "1.2.3.4 1.0.0.0/8 a"},
		{"the longer", "1.2.0.0/16 b,1.0.0.0/8 a,1.2.3.4", "1.2.3.4 1.2.0.0/16 b"},
		{"the host itself", "1.2.3.4/32 c,1.2.0.0/16 b,1.2.3.4", "1.2.3.4 1.2.3.4/32 c"},
		{"the default", "0.0.0.0/0 d,1.2.0.0/16 b,1.3.3.4", "1.3.3.4 0.0.0.0/0 d"},
		{"the default is of one version", "0.0.0.0/0 d,::1", "::1 no route"},
		{"a later one", "1.0.0.0/8 a,1.0.0.0/8 b,1.2.3.4", "1.2.3.4 1.0.0.0/8 b"},
		{"bits behind the prefix do not count", "1.2.3.4/8 a,1.9.9.9", "1.9.9.9 1.2.3.4/8 a"},
		{"without a destination", "::/0,::1", "::1 ::/0"},
		{"the longest there is", "2001:db8::1/128 h,2001:db8::/127 n,2001:db8::1", "2001:db8::1 2001:db8::1/128 h"},
	} {
		var out strings.Builder
		if err := run(strings.NewReader(strings.ReplaceAll(c.in, ",", "\n")), &out); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, _, _ := strings.Cut(out.String(), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	for _, line := range []string{"", "1.2.3", "1.2.3.4/33 a", "::/129", "1.2.3.4/-1", "east 1.0.0.0/8"} {
		err := run(strings.NewReader("1.0.0.0/8 a\n"+line+"\n"), io.Discard)
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if err := run(strings.NewReader(strings.Repeat("1", 1<<17)), io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
}

// TestAnswersEqualThoseOfAnExactTable looks up the edges of prefixes, where answers
// change, and addresses inside them.
func TestAnswersEqualThoseOfAnExactTable(t *testing.T) {
	prefixes, filters, exact := tables(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2_000 {
		p := prefixes[rng.IntN(len(prefixes))]
		first, last := p.Addr(), ending(p, func() byte { return 255 })
		for _, a := range []netip.Addr{first, first.Prev(), last, last.Next(), inside(rng, p)} {
			want, ok := exact.Lookup(a)
			if !ok {
				want = "no route"
			}
			if got := filters.lookup(a); a.IsValid() && got != want {
				t.Fatalf("%v: got %s, want %s", a, got, want)
			}
		}
	}
}

// tables returns random prefixes, most of them long, and a table of filters and an exact
// one that have them. A route is named by its prefix.
func tables(tb testing.TB) (prefixes []netip.Prefix, filters *table, exact *bart.Table[string]) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	filters, exact = new(table), new(bart.Table[string])
	for i := range effort.Pick(5_000, 60_000) {
		everywhere := []string{"0.0.0.0/0", "::/0"}[i%2]
		usual, all := []int{24, 48}[i%2], []int{32, 128}[i%2]
		bits := usual - rng.IntN(1+rng.IntN(usual))
		if i%10 < 2 {
			bits = rng.IntN(all + 1)
		}
		p, err := inside(rng, netip.MustParsePrefix(everywhere)).Prefix(bits)
		if err := errors.Join(err, filters.insert(p, p.String())); err != nil {
			tb.Fatal(err)
		}
		exact.Insert(p, p.String())
		prefixes = append(prefixes, p)
	}
	return prefixes, filters, exact
}

// inside returns a random address of p.
func inside(rng *rand.Rand, p netip.Prefix) netip.Addr {
	return ending(p, func() byte { return byte(rng.Uint32()) })
}

// ending returns p with other bytes, as far as they are behind it.
func ending(p netip.Prefix, other func() byte) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := range b {
		b[i] |= byte(uint16(other()) & (0xff >> min(8, max(0, p.Bits()-8*i))))
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// BenchmarkLookup compares filters with the trie of package bart.
func BenchmarkLookup(b *testing.B) {
	prefixes, filters, exact := tables(b)
	rng := rand.New(rand.NewPCG(9, 10))
	addresses := make([]netip.Addr, 1<<14)
	for i := range addresses {
		addresses[i] = inside(rng, prefixes[rng.IntN(len(prefixes))])
	}
	b.Run("filters", func(b *testing.B) {
		filters.asked, filters.read = 0, 0
		for i := 0; b.Loop(); i++ {
			filters.lookup(addresses[i%len(addresses)])
		}
		b.ReportMetric(float64(filters.asked)/float64(b.N), "filters/op")
		b.ReportMetric(float64(filters.read)/float64(b.N), "routes/op")
	})
	b.Run("bart", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			exact.Lookup(addresses[i%len(addresses)])
		}
	})
}
