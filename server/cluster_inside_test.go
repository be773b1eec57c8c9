package server

import (
	"context"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster/clustertest"
)

// An insider is a server in the process of the test. It is ended by TERM and KILL.
type insider struct {
	*member
	trial *trial
	node  int
	stop  context.CancelFunc
	ended <-chan struct{}
	kill  sync.Once
}

// launchInside starts a server.
func (c *trial) launchInside(i int, logs io.WriteCloser) {
	c.t.Helper()
	n := c.nodes[i]
	m, err := newMember(c.config(i), logs)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	n.run = &insider{member: m, trial: c, node: i, stop: stop, ended: served}
	go func(ready chan<- error, ended chan<- struct{}) {
		defer logs.Close() // it is there for a look at it
		err := m.open(ctx)
		ready <- err
		if err == nil {
			err = m.Serve(ctx)
		} else {
			_ = m.release() // the first error is told
		}
		if err != nil {
			m.logger.Error(err.Error())
		}
		close(served)
		close(ended)
	}(n.ready, n.ended)
}

func (m *insider) jump(d time.Duration) { m.offset.Add(int64(d)) }

func (m *insider) signal(s syscall.Signal) {
	switch s {
	case syscall.SIGTERM:
		m.stop()
	case syscall.SIGKILL:
		m.kill.Do(m.drop)
	default:
		m.trial.t.Fatalf("a server inside of the test does not know %v", s)
	}
}

// drop ends the server so that others cannot tell it from a process that was killed: all its
// connections end at once, and nothing that it still does gets out. When it has ended, the network is
// what it was.
func (m *insider) drop() {
	restore := m.trial.detach(m.node)
	m.hooks.dead.Store(true)
	m.mu.Lock()
	m.ending = true
	for _, c := range m.conns {
		_ = c.Close() // of clients
	}
	m.mu.Unlock()
	m.stop()
	<-m.ended
	restore()
}

// detach cuts a server off. The function that it returns undoes that.
func (c *trial) detach(i int) (restore func()) {
	before := make(map[*clustertest.Proxy]clustertest.Flow)
	for j := range c.nodes {
		for way := range 2 {
			if j != i {
				before[c.ways[i][j][way]] = c.ways[i][j][way].Set(clustertest.Cut)
				before[c.ways[j][i][way]] = c.ways[j][i][way].Set(clustertest.Cut)
			}
		}
	}
	return func() {
		for p, f := range before {
			p.Set(f)
		}
	}
}
