package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	nameTime  = 500 * time.Millisecond // that nodes have to answer
	aliveTime = 2 * announceEvery      // in which a node that runs is heard
)

// A sighting is when a node was heard last by another one.
type sighting struct {
	Instance string
	Age      time.Duration
}

// CheckName returns an error if a node of the same name runs. It is called before Announce. Two
// nodes that start at the same moment are not found; see Node.Twice.
func (c *Cluster) CheckName(ctx context.Context) error {
	begun := time.Now()
	switch last, err := c.lastSeen(ctx); {
	case err != nil || last > aliveTime:
		return err
	case last == 0:
		return c.nameTaken()
	}
	// It was heard a moment ago. A node that was started again was another one before.
	if err := pause(ctx, aliveTime); err != nil {
		return err
	}
	last, err := c.lastSeen(ctx)
	if err == nil && last < time.Since(begun)-nameTime {
		err = c.nameTaken()
	}
	return err
}

func (c *Cluster) nameTaken() error {
	return fmt.Errorf("cluster: a node with the name %s runs already: stop it, or give this one another name", c.config.Name)
}

// lastSeen returns how long ago a node with this name was heard, by those that answer; 0 if it
// answers itself. Two members with one name do not hear each other.
func (c *Cluster) lastSeen(ctx context.Context) (time.Duration, error) {
	inbox := c.conn.NewInbox()
	sub, err := c.conn.SubscribeSync(inbox)
	if err != nil {
		return 0, fmt.Errorf("cluster: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // nothing more is read
	if err := c.conn.PublishRequest(c.askSubject(), inbox, nil); err != nil {
		return 0, fmt.Errorf("cluster: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	last := forgetAfter
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil || m.Header.Get("Status") == noResponders {
			return last, nil // the others do not answer
		}
		last = min(last, c.seenBy(m))
	}
}

const noResponders = "503"

// seenBy returns how long ago the node that answers has heard another one with this name.
func (c *Cluster) seenBy(m *nats.Msg) time.Duration {
	var a announcement
	if json.Unmarshal(m.Data, &a) != nil {
		return forgetAfter
	}
	if a.Name == c.config.Name && a.Instance != c.instance {
		return 0
	}
	if s, ok := a.Seen[c.config.Name]; ok && s.Instance != c.instance {
		return max(s.Age, 1)
	}
	return forgetAfter
}

// seen returns when the other nodes were heard.
func (c *Cluster) seen() map[string]sighting {
	seen := make(map[string]sighting)
	for _, n := range c.Members() {
		if n.Name != c.config.Name {
			seen[n.Name] = sighting{n.instance, time.Since(n.Heard)}
		}
	}
	return seen
}

// checkAddress returns an error if a member with the name of this one answers at the address that
// the list of members has for it. It is called before this one listens: the engine takes two
// members with one name for one.
func (c *Config) checkAddress(ctx context.Context) error {
	own := slices.IndexFunc(c.Peers, func(p Peer) bool { return p.Name == c.Name })
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.Peers[own].Addr)
	if err != nil {
		return nil // as it should be
	}
	defer func() { _ = conn.Close() }()                // nothing was sent
	_ = conn.SetReadDeadline(time.Now().Add(nameTime)) // reading tells
	line, err := bufio.NewReader(conn).ReadString('\n')
	text, ok := strings.CutPrefix(line, "INFO ")
	var info struct {
		Name string `json:"server_name"`
	}
	if err != nil || !ok || json.Unmarshal([]byte(text), &info) != nil || info.Name != c.Name {
		return nil // something else; if this one cannot listen, it says so
	}
	return fmt.Errorf("cluster: a member with the name %s runs already at %s: stop it, or give this one another name and address", c.Name, c.Peers[own].Addr)
}
