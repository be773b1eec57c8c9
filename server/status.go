package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/record"
)

// A NodeStatus is what a server of a cluster tells about itself.
type NodeStatus struct {
	Node       string            `json:"node"`
	Address    string            `json:"address"` // of the Redis protocol
	Version    string            `json:"version"`
	Level      uint8             `json:"level"` // of records that it reads
	Heard      time.Time         `json:"heard"` // when it told so
	Twice      bool              `json:"twice"` // two servers have this name
	Partitions []PartitionStatus `json:"partitions"`
}

// A PartitionStatus is a partition as a server sees it.
type PartitionStatus struct {
	Number  int           `json:"number"`
	Held    bool          `json:"held"`   // in memory
	Leads   bool          `json:"leads"`  // with a lease
	Lease   time.Duration `json:"lease"`  // that is left
	Leader  string        `json:"leader"` // as it was heard last
	Epoch   uint32        `json:"epoch"`
	Applied uint64        `json:"applied"` // number of the last record in memory
	Level   uint8         `json:"level"`   // of records that may come
	Log     string        `json:"log"`     // the engine's server that leads the log, if this one leads the partition
	Sets    int64         `json:"sets"`
	Bytes   int64         `json:"bytes"`
}

// status returns what this server tells about itself.
func (n *node) status() NodeStatus {
	s := n.server
	out := NodeStatus{Node: n.name, Address: n.address, Version: s.host.Version, Level: cmp.Or(s.hooks.level, record.Highest), Heard: time.Now()}
	for i := range s.shards {
		one := PartitionStatus{Number: i}
		if h := s.shards[i].Load(); h != nil {
			state := h.partition.State()
			one.Held, one.Leads, one.Lease = true, state.Lease > 0, state.Lease
			one.Leader, one.Epoch, one.Applied, one.Level = state.Leader.Node, state.Leader.Epoch, state.Applied, state.Level
			one.Log, _ = h.drawn.Load().(string)
			one.Sets, _ = h.store.Len()
			one.Bytes = h.store.Bytes()
		}
		out.Partitions = append(out.Partitions, one)
	}
	return out
}

// announcement is status in the form that other servers get.
func (n *node) announcement() []byte {
	b, err := json.Marshal(n.status())
	if err != nil {
		n.server.logger.Error("telling other servers failed", "error", err)
	}
	return b
}

// silent is how long nothing is heard of a server until it is taken to be gone.
const silent = 5 * time.Second

// A hearsay is what other servers told, kept for a while: every command that is forwarded asks.
type hearsay struct {
	mu   sync.Mutex
	read time.Time
	told []NodeStatus
}

// freshFor is how long what was read is taken for what is told. Servers tell once a second.
const freshFor = 100 * time.Millisecond

// others returns what the other servers told last.
func (n *node) others() []NodeStatus {
	h := &n.hearsay
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.read) >= freshFor {
		h.read, h.told = time.Now(), n.readOthers()
	}
	return slices.Clone(h.told)
}

// readOthers reads what the other servers told last.
func (n *node) readOthers() []NodeStatus {
	var out []NodeStatus
	for _, m := range n.cluster.Members() {
		if m.Name == n.name {
			continue
		}
		var one NodeStatus
		if json.Unmarshal(m.About, &one) == nil && len(one.Partitions) == len(n.server.shards) {
			one.Heard, one.Twice = m.Heard, !m.Twice.IsZero() && time.Since(m.Twice) <= silent
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b NodeStatus) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// alive returns the other servers that were heard lately.
func (n *node) alive() []NodeStatus {
	return slices.DeleteFunc(n.others(), func(o NodeStatus) bool { return time.Since(o.Heard) > silent })
}

// Leading returns how many partitions a server leads.
func (o NodeStatus) Leading() (count int) {
	for _, p := range o.Partitions {
		if p.Leads {
			count++
		}
	}
	return count
}

// A ClusterStatus is what one server knows of all.
type ClusterStatus struct {
	At         time.Time      `json:"at"`
	Nodes      []NodeStatus   `json:"nodes"`
	Partitions []LeaderStatus `json:"partitions"`
	Problems   []string       `json:"problems"`
}

// A LeaderStatus is a partition as its leader sees it.
type LeaderStatus struct {
	PartitionStatus
	Copies int `json:"copies"` // nodes that hold it in memory
}

// clusterStatus asks all servers.
func (n *node) clusterStatus(ctx context.Context) ClusterStatus {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, _ = n.cluster.Ask(ctx) // a node that does not answer is shown as heard last
	n.hearsay.mu.Lock()
	n.hearsay.read = time.Time{} // they have told more
	n.hearsay.mu.Unlock()
	return n.known()
}

// known returns what the servers told lately.
func (n *node) known() ClusterStatus {
	status := ClusterStatus{At: time.Now(), Nodes: append(n.others(), n.status()), Problems: []string{}}
	slices.SortFunc(status.Nodes, func(a, b NodeStatus) int { return cmp.Compare(a.Node, b.Node) })
	for i := range n.server.shards {
		status.Partitions = append(status.Partitions, status.leader(i))
	}
	status.findProblems(n.members)
	return status
}

// statusText is clusterStatus in the form that CLUSTER STATUS answers.
func (n *node) statusText(ctx context.Context) []byte {
	b, err := json.Marshal(n.clusterStatus(ctx))
	if err != nil {
		n.server.logger.Error("the status of the cluster cannot be told", "error", err)
	}
	return b
}

// askTime is how long servers have to answer.
const askTime = time.Second

// leader returns a partition as its leader sees it, or without one as the node does that has
// heard most of it.
func (s *ClusterStatus) leader(i int) (best LeaderStatus) {
	copies := 0
	for j, o := range s.Nodes {
		p := o.Partitions[i]
		if p.Held {
			copies++
		}
		alive := s.At.Sub(o.Heard) <= silent
		p.Leads = p.Leads && alive
		if j == 0 || p.Leads && !best.Leads || p.Leads == best.Leads && (p.Epoch > best.Epoch || p.Epoch == best.Epoch && p.Applied > best.Applied) {
			best.PartitionStatus = p
		}
		if p.Leads {
			best.Leader = o.Node
		}
	}
	best.Copies = copies
	return best
}

// findProblems says what is not as it should be. The members are those that the settings name.
func (s *ClusterStatus) findProblems(members []string) {
	for _, name := range members {
		if !slices.ContainsFunc(s.Nodes, func(o NodeStatus) bool { return o.Node == name }) {
			s.Problems = append(s.Problems, fmt.Sprintf("node %s was not heard since this node started", name))
		}
	}
	for _, o := range s.Nodes {
		if d := s.At.Sub(o.Heard); d > silent {
			s.Problems = append(s.Problems, fmt.Sprintf("node %s was heard %s ago", o.Node, d.Round(time.Second)))
		}
	}
	for _, o := range s.Nodes {
		if o.Twice {
			s.Problems = append(s.Problems, fmt.Sprintf("two nodes have the name %s: stop one of them", o.Node))
		}
	}
	var without []string
	for _, p := range s.Partitions {
		if !p.Leads {
			without = append(without, strconv.Itoa(p.Number))
		}
	}
	switch {
	case len(without) == 1:
		s.Problems = append(s.Problems, "partition "+without[0]+" has no leader")
	case len(without) > 1:
		s.Problems = append(s.Problems, "partitions "+strings.Join(without, ", ")+" have no leader")
	}
}

// Behind returns how many records a node has yet to apply.
func (s *ClusterStatus) Behind(o NodeStatus) (n uint64) {
	for i, p := range o.Partitions {
		if p.Held && s.Partitions[i].Applied > p.Applied {
			n += s.Partitions[i].Applied - p.Applied
		}
	}
	return n
}

// Sets returns how many sets a node holds.
func (o NodeStatus) Sets() (n int64) {
	for _, p := range o.Partitions {
		n += p.Sets
	}
	return n
}

// Bytes returns the memory of the sets that a node holds.
func (o NodeStatus) Bytes() (n int64) {
	for _, p := range o.Partitions {
		n += p.Bytes
	}
	return n
}
