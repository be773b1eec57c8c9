package router

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// BenchmarkForward compares a client of the leader with one of another node, over loopback and
// in turns: single commands and pipelines of 64 over 16 partitions. The log is in memory.
func BenchmarkForward(b *testing.B) {
	for _, verb := range []string{"BF.EXISTS", "BF.ADD"} {
		for _, pipeline := range []int{1, 64} {
			b.Run(fmt.Sprint(verb, "/", pipeline), func(b *testing.B) {
				c := newCluster(b, 2, 16, nil)
				var clients [2]*benchClient
				for i := range c.leaders {
					c.move(i, 0)
				}
				for i, n := range c.nodes {
					conn, err := net.Dial("tcp", n.address)
					if err != nil {
						b.Fatal(err)
					}
					defer conn.Close()
					clients[i] = newBenchClient(conn, verb, pipeline, i)
				}
				for b.Loop() {
					for _, client := range clients {
						client.round(b)
					}
				}
				direct, forwarded := clients[0].median(), clients[1].median()
				b.ReportMetric(float64(direct.Nanoseconds()), "direct-p50-ns")
				b.ReportMetric(float64(forwarded.Nanoseconds()), "forwarded-p50-ns")
				b.ReportMetric(float64(forwarded)/float64(direct), "times")
			})
		}
	}
}

// A benchClient sends commands about 64 keys and reads the replies, of 4 bytes each.
type benchClient struct {
	conn    net.Conn
	stream  []byte
	replies []byte
	rounds  int
	took    []time.Duration
}

func newBenchClient(conn net.Conn, verb string, pipeline, number int) *benchClient {
	c := &benchClient{conn: conn, replies: make([]byte, 4*pipeline)}
	for i := range pipeline {
		c.stream = fmt.Appendf(c.stream, "*3\r\n$%d\r\n%s\r\n$6\r\nkey:%02d\r\n$18\r\nitem:%08d:%02d:%d\r\n", len(verb), verb, i, 0, i, number)
	}
	return c
}

func (c *benchClient) round(b *testing.B) {
	b.Helper()
	next := bytes.ReplaceAll(c.stream, fmt.Appendf(nil, "m:%08d", c.rounds), fmt.Appendf(nil, "m:%08d", c.rounds+1))
	c.stream = next
	c.rounds++
	started := time.Now()
	if _, err := c.conn.Write(c.stream); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(c.conn, c.replies); err != nil {
		b.Fatal(err)
	}
	c.took = append(c.took, time.Since(started))
}

func (c *benchClient) median() time.Duration {
	slices.Sort(c.took)
	return c.took[len(c.took)/2]
}
