package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
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
// change, addresses inside them and random ones.
func TestAnswersEqualThoseOfAnExactTable(t *testing.T) {
	prefixes := load(t)
	ours, exact, _ := both(t, prefixes)
	rng := rand.New(rand.NewPCG(5, 6))
	check := func(a netip.Addr) {
		if !a.IsValid() { // beyond the first or the last address
			return
		}
		want, ok := exact.Lookup(a)
		if !ok {
			want = "no route"
		}
		if got := ours.lookup(a); got != want {
			t.Fatalf("%v: got %s, want %s", a, got, want)
		}
	}
	for range 5_000 {
		p := prefixes[rng.IntN(len(prefixes))].Masked()
		first, last := p.Addr(), ending(p, func() byte { return 255 })
		for _, a := range []netip.Addr{first, first.Prev(), last, last.Next()} {
			check(a)
		}
		check(inside(rng, p))
		check(inside(rng, everywhere[rng.IntN(2)]))
	}
	t.Logf("%d prefixes; %d filters asked, %d routes read", len(prefixes), ours.asked, ours.read)
}

var everywhere = [2]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

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

// both returns a table of ours and an exact one, and their bytes. A route is named by
// its prefix.
func both(tb testing.TB, prefixes []netip.Prefix) (ours *table, exact *bart.Table[string], bytes [2]uint64) {
	tb.Helper()
	ours, exact = new(table), new(bart.Table[string])
	routes := make([]string, len(prefixes))
	for i, p := range prefixes {
		routes[i] = p.Masked().String()
	}
	bytes[0] = growth(func() {
		for i, p := range prefixes {
			if err := ours.insert(p, routes[i]); err != nil {
				tb.Fatal(err)
			}
		}
	})
	bytes[1] = growth(func() {
		for i, p := range prefixes {
			exact.Insert(p, routes[i])
		}
	})
	runtime.KeepAlive(routes)
	return ours, exact, bytes
}

// growth returns the bytes that are in use after f and were not before.
func growth(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return after.HeapAlloc - before.HeapAlloc
}

// load returns a table of the Internet, if there is one at hand, and otherwise makes
// one up: most prefixes are long, and every length occurs.
func load(tb testing.TB) (prefixes []netip.Prefix) {
	tb.Helper()
	if folder := os.Getenv("EVERBLOOM_DATA"); folder != "" && effort.Long() {
		return read(tb, filepath.Join(folder, "lpm", "bart-prefixes.txt.gz"))
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range effort.Pick(15_000, 60_000) {
		version := i % 2
		usual, all := []int{24, 48}[version], []int{32, 128}[version]
		bits := usual - rng.IntN(1+rng.IntN(usual))
		if i%10 < 2 {
			bits = rng.IntN(all + 1)
		}
		p, err := inside(rng, everywhere[version]).Prefix(bits)
		if err != nil {
			tb.Fatal(err)
		}
		prefixes = append(prefixes, p)
	}
	return prefixes
}

func read(tb testing.TB, path string) (prefixes []netip.Prefix) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	for lines := bufio.NewScanner(z); lines.Scan(); {
		prefixes = append(prefixes, netip.MustParsePrefix(lines.Text()))
	}
	return prefixes
}

// BenchmarkLookup compares filters and routes with the trie of package bart, for
// addresses half of which are inside a prefix and half anywhere.
func BenchmarkLookup(b *testing.B) {
	prefixes := load(b)
	rng := rand.New(rand.NewPCG(9, 10))
	addresses := make([]netip.Addr, 1<<16)
	for i := range addresses {
		p := prefixes[rng.IntN(len(prefixes))]
		if i%2 == 0 {
			p = everywhere[p.Addr().BitLen()/128]
		}
		addresses[i] = inside(rng, p)
	}
	ours, exact, bytes := both(b, prefixes)
	b.Run("filters", func(b *testing.B) {
		ours.asked, ours.read = 0, 0
		for i := 0; b.Loop(); i++ {
			ours.lookup(addresses[i%len(addresses)])
		}
		b.ReportMetric(float64(ours.asked)/float64(b.N), "filters/op")
		b.ReportMetric(float64(ours.read)/float64(b.N), "routes/op")
		b.ReportMetric(fast(ours)/1e6, "fast-MB")
		b.ReportMetric(float64(bytes[0])/1e6, "MB")
	})
	b.Run("bart", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			exact.Lookup(addresses[i%len(addresses)])
		}
		b.ReportMetric(float64(bytes[1])/1e6, "MB")
	})
}

// fast returns the bytes that the filters answer from.
func fast(t *table) (bytes float64) {
	for _, version := range t.lengths {
		for _, l := range version {
			if l.filter != nil {
				bytes += float64(l.filter.Info().FastBits) / 8
			}
		}
	}
	return bytes
}
