package traffic

import (
	"net/netip"
	"testing"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/gate/pattern"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// BenchmarkStep judges packets of 200,000 users that were generated before.
func BenchmarkStep(b *testing.B) {
	type packet struct {
		src  netip.Addr
		word uint32
	}
	g, err := New(Config{Users: 200_000, Packets: 5_000_000, Blacklisted: 50_000})
	if err != nil {
		b.Fatal(err)
	}
	patterns, err := pattern.Compile(g.Patterns())
	if err != nil {
		b.Fatal(err)
	}
	var list []packet
	for p := (packets.Packet{}); g.Read(&p) == nil; {
		list = append(list, packet{p.Src, p.Words[0]})
	}
	for _, kind := range gate.Kinds()[:4] {
		b.Run("kind="+kind, func(b *testing.B) {
			e, err := gate.New(gate.Config{Users: 200_000, Banned: 70_000, Patterns: patterns, Kind: kind, Blacklist: g.Blacklist()})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := list[i%len(list)]
				e.Step(p.src, p.word, 0)
			}
			b.ReportMetric(float64(e.Bytes())/1e6, "MB")
		})
	}
}
