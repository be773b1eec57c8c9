package server

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// BenchmarkPipeline runs pipelines of 64 commands without a socket: reading, running,
// replying. The log is in memory.
func BenchmarkPipeline(b *testing.B) {
	for _, verb := range []string{"PING", "BF.EXISTS", "BF.ADD"} {
		b.Run(verb, func(b *testing.B) {
			s, err := open(b, "log", "memory")
			if err != nil {
				b.Fatal(err)
			}
			defer s.release()
			session := command.NewSession(s.first().env, 1, "", "")
			var stream []byte
			for i := range 64 {
				if verb == "PING" {
					stream = append(stream, encode(verb)...)
				} else {
					stream = append(stream, encode(verb, "k", fmt.Sprintf("key:%012d", i))...)
				}
			}
			src := bytes.NewReader(stream)
			r := resp.NewReader(src, resp.Standard())
			b.ReportAllocs()
			for round := 0; b.Loop(); round++ {
				if verb == "BF.ADD" { // new items
					stream = bytes.ReplaceAll(stream, fmt.Appendf(nil, "y:%06d", round), fmt.Appendf(nil, "y:%06d", round+1))
				}
				src.Reset(stream)
				for src.Len() > 0 {
					if err := r.Fill(); err != nil {
						b.Fatal(err)
					}
					session.Begin()
					for {
						args, err := r.Next()
						if err != nil {
							b.Fatal(err)
						}
						if args == nil {
							break
						}
						if err := session.Take(args); err != nil {
							b.Fatal(err)
						}
					}
					if err := session.Flush(); err != nil {
						b.Fatal(err)
					}
					session.End()
				}
				session.Writer().Reset()
			}
		})
	}
}
