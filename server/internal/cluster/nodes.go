package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	announceEvery = time.Second
	forgetAfter   = 24 * time.Hour
)

// A Node is what a node told about itself.
type Node struct {
	Name  string
	About []byte    // what it announces
	Heard time.Time // last
	Twice time.Time // when two nodes of this name were noticed last; zero if never

	instance, before string // that were heard, the last one and the one before it
}

// nodes is what was heard of all nodes, this one too.
type nodes struct {
	mu    sync.Mutex
	heard map[string]Node
	about func() []byte // nil if nothing is announced
	wait  sync.WaitGroup
}

// An announcement is what a node sends.
type announcement struct {
	Name     string
	Instance string
	About    []byte
	Seen     map[string]sighting // other nodes, in answers
}

func (c *Cluster) nodeSubject() string { return c.config.Namespace + ".nodes" }

func (c *Cluster) askSubject() string { return c.config.Namespace + ".ask" }

// listen begins to hear what nodes announce.
func (c *Cluster) listen() error {
	c.nodes.heard = make(map[string]Node)
	_, err := c.conn.Subscribe(c.nodeSubject(), func(m *nats.Msg) { c.hear(m) })
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}

// hear keeps what a node says. Two nodes of one name are told to the log: each would take
// the other's place. They may not hear each other, so that all nodes look: a name whose instance
// changes and changes back is that of two.
func (c *Cluster) hear(m *nats.Msg) (a announcement, ok bool) {
	if err := json.Unmarshal(m.Data, &a); err != nil || !validName.MatchString(a.Name) {
		return a, false
	}
	if a.Name == c.config.Name && a.Instance != c.instance {
		c.config.Logger.Error("another node has the name of this one: stop one of them", "name", a.Name)
	}
	now := time.Now()
	c.nodes.mu.Lock()
	defer c.nodes.mu.Unlock()
	old := c.nodes.heard[a.Name]
	n := Node{Name: a.Name, About: a.About, Heard: now, Twice: old.Twice, instance: a.Instance, before: old.before}
	if a.Instance != old.instance {
		n.before = old.instance
		if a.Instance == old.before {
			n.Twice = now
			c.config.Logger.Error("two nodes have the same name: stop one of them", "name", a.Name)
		}
	}
	c.nodes.heard[a.Name] = n
	for name, n := range c.nodes.heard {
		if now.Sub(n.Heard) > forgetAfter {
			delete(c.nodes.heard, name)
		}
	}
	return a, true
}

// Announce tells other nodes once a second, and when they ask, what about returns. It is
// called once.
func (c *Cluster) Announce(about func() []byte) error {
	c.nodes.mu.Lock()
	c.nodes.about = about
	c.nodes.mu.Unlock()
	if _, err := c.conn.Subscribe(c.askSubject(), func(m *nats.Msg) { c.tell(m.Reply, c.seen()) }); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	c.nodes.wait.Go(func() {
		for {
			c.tell(c.nodeSubject(), nil)
			if pause(c.ctx, announceEvery) != nil {
				return
			}
		}
	})
	return nil
}

// tell sends an announcement. One that is lost is followed by others.
func (c *Cluster) tell(to string, seen map[string]sighting) {
	c.nodes.mu.Lock()
	about := c.nodes.about
	c.nodes.mu.Unlock()
	b, err := json.Marshal(announcement{Name: c.config.Name, Instance: c.instance, About: about(), Seen: seen})
	if err == nil && to != "" {
		err = c.conn.Publish(to, b)
	}
	if err != nil && c.ctx.Err() == nil {
		c.config.Logger.Debug("an announcement was not sent", "error", err)
	}
}

// Members returns all nodes that were heard, by name.
func (c *Cluster) Members() []Node {
	c.nodes.mu.Lock()
	defer c.nodes.mu.Unlock()
	list := make([]Node, 0, len(c.nodes.heard))
	for _, n := range c.nodes.heard {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Ask asks all nodes at once, and returns what they answer until ctx ends, by name. It
// returns earlier when all nodes that were heard during the last seconds have answered.
func (c *Cluster) Ask(ctx context.Context) ([]Node, error) {
	inbox := c.conn.NewInbox()
	sub, err := c.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // nothing more is read
	if err := c.conn.PublishRequest(c.askSubject(), inbox, nil); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	open := make(map[string]bool)
	for _, n := range c.Members() {
		open[n.Name] = time.Since(n.Heard) < 3*announceEvery
	}
	var list []Node
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break // the others do not answer
		}
		a, ok := c.hear(m)
		if !ok {
			continue
		}
		list = append(list, Node{Name: a.Name, About: a.About, Heard: time.Now()})
		delete(open, a.Name)
		if !slices.Contains(slices.Collect(maps.Values(open)), true) {
			break
		}
	}
	slices.SortFunc(list, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
