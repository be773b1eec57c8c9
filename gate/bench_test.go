package gate

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/everbloom-go/everbloom/gate/pattern"
)

// benchUsers is the number of users of the bars that the gate is held to.
const benchUsers = 200_000

// somePatterns returns patterns of one to eight words.
func somePatterns(tb testing.TB, r *rand.Rand, n int) *pattern.Automaton {
	tb.Helper()
	var list []pattern.Pattern
	for i := range n {
		p := pattern.Pattern{Name: "p" + string(rune('0'+i/10)) + string(rune('0'+i%10))}
		for range 1 + r.IntN(8) {
			p.Words = append(p.Words, r.Uint32())
		}
		list = append(list, p)
	}
	a, err := pattern.Compile(list)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func v4(i uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], i)
	return netip.AddrFrom4(b)
}

// scatter spreads consecutive numbers over all addresses, without repetition.
func scatter(i uint32) uint32 { return i * 0x9E3779B1 }

// records returns traffic in the binary form: users at random, a tenth of them evil,
// and one packet in twenty from a source of the black list.
func records(r *rand.Rand, a *pattern.Automaton, packets int) []byte {
	type chain struct{ pattern, at int }
	evil := make(map[uint32]chain)
	out := make([]byte, 0, 8*packets)
	list := a.Patterns()
	for range packets {
		user := uint32(r.IntN(benchUsers))
		word := r.Uint32()
		switch {
		case r.IntN(20) == 0:
			user = benchUsers + uint32(r.IntN(50_000))
		case user%10 == 0:
			c := evil[user]
			if c.at == 0 {
				c.pattern = r.IntN(len(list))
			}
			words := list[c.pattern].Words
			word = words[c.at]
			c.at = (c.at + 1) % len(words)
			evil[user] = c
		}
		out = binary.BigEndian.AppendUint32(out, scatter(user))
		out = binary.BigEndian.AppendUint32(out, word)
	}
	return out
}

// BenchmarkStep reads records of the binary form and judges them.
func BenchmarkStep(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 0))
	a := somePatterns(b, r, 64)
	traffic := records(r, a, 5_000_000)
	for _, kind := range []string{"evergreen", "deletable", "counting", "dleft"} {
		b.Run("kind="+kind, func(b *testing.B) {
			c := Config{Users: benchUsers, Banned: 70_000, Patterns: a, Kind: kind}
			for i := range uint32(50_000) {
				c.Blacklist = append(c.Blacklist, netip.PrefixFrom(v4(scatter(benchUsers+i)), 32))
			}
			e, err := New(c)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				word := binary.BigEndian.Uint32(traffic[i+4:])
				e.Step(netip.AddrFrom4([4]byte(traffic[i:])), word, 0)
				if i += 8; i == len(traffic) {
					i = 0
				}
			}
			s := e.Stats()
			b.ReportMetric(float64(s.Rejected)/float64(s.Packets), "rejected/op")
			b.ReportMetric(float64(s.Bytes)/1e6, "MB")
		})
	}
}
