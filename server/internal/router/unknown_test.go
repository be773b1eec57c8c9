package router

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

// TestUnknownIsNotSentAgain has commands be carried out whose outcome is lost: between two nodes, or
// between a node and its log. The client is told nothing, and no item is there twice.
func TestUnknownIsNotSentAgain(t *testing.T) {
	var after atomic.Int64 // replies of nodes, until one is lost
	c := newCluster(t, 2, 2, func(c *Config) {
		plain := New(*c).Dial
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := plain(ctx, address)
			return cutter{conn, &after}, err
		}
	})
	for _, n := range c.nodes {
		exactCounts(t, n)
	}
	faults := make([]atomic.Int64, len(c.logs))
	for i, l := range c.logs {
		l.Fault = func(uint64) log.Fault {
			if faults[i].Add(-1) == 0 {
				return log.StoredUnknown
			}
			return log.None
		}
	}
	for _, one := range []struct {
		name, set string
		lose      func()
	}{
		{"between nodes", "a", func() { after.Store(0) }},
		{"behind another node", "a", func() { faults[1].Store(1) }},
		{"behind this node", "b", func() { faults[0].Store(1) }},
	} {
		t.Run(one.name, func(t *testing.T) {
			after.Store(1000)
			s := c.nodes[0].session(t)
			want(t, s, "CF.ADD "+one.set+" before", ":1")
			one.lose()
			item := strings.ReplaceAll(one.name, " ", "-")
			if replies, err := run(s, "CF.ADD "+one.set+" "+item); !errors.Is(err, errUnknown) {
				t.Errorf("%q, %v", replies, err)
			}
			after.Store(1000)
			s = c.nodes[0].session(t)
			await(t, "writes are accepted", func() bool {
				replies, err := run(s, "CF.ADD "+one.set+" after")
				return err == nil && replies[0] == ":1"
			})
			await(t, "the command is carried out", func() bool {
				replies, err := run(s, "CF.COUNT "+one.set+" "+item)
				return err == nil && replies[0] != ":0"
			})
			want(t, s, "CF.COUNT "+one.set+" "+item, ":1")
		})
	}
}
