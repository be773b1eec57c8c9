package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// BenchmarkGateRun reads records and judges them, with all that gate run does for
// each; an operation is a packet.
func BenchmarkGateRun(b *testing.B) {
	flags := trafficFlags{users: 200_000, count: 5_000_000, blacklisted: 50_000}
	flags.Patterns = 64
	made, err := flags.generator()
	if err != nil {
		b.Fatal(err)
	}
	var data bytes.Buffer
	if err := (&gateGenerate{}).writePackets(context.Background(), &data, made); err != nil {
		b.Fatal(err)
	}
	for _, kind := range gate.Kinds()[:4] {
		b.Run("kind="+kind, func(b *testing.B) {
			var g gateFlags
			g.Kind = kind
			if err := flags.expect(&g, made); err != nil {
				b.Fatal(err)
			}
			s, err := newGateSession(g.Config, false)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for left := b.N; left > 0; left -= data.Len() / 8 {
				some := data.Bytes()[:min(8*left, data.Len())]
				r, err := packets.Open(bytes.NewReader(some), packets.Options{Format: packets.Binary})
				if err == nil {
					err = s.read(context.Background(), r)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
