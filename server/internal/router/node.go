package router

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/partition"
)

// Shards is what the router knows of the cluster. Its methods are called by many goroutines.
type Shards interface {
	// Self returns the name of this node.
	Self() string

	// Partitions returns how many partitions there are. It stays the same.
	Partitions() int

	// Shard returns this node's copy of a partition; nil if there is none, or while it is
	// being loaded.
	Shard(i int) *Shard

	// Leader returns the node that leads a partition, as far as is known.
	Leader(i int) partition.Leader

	// Members returns all nodes, this one among them, in the same order on all of them.
	Members() []Member

	// Applied returns the last records that other nodes have applied, by node and partition, of
	// those that answer before ctx ends.
	Applied(ctx context.Context) [][]uint64
}

// A Shard is this node's copy of a partition. Another one takes its place when it is loaded
// anew.
type Shard struct {
	Number int
	Env    *command.Env

	lead func() uint64 // for tests; nil asks the partition
}

// epoch returns the epoch in which this node leads the partition now, 0 if it does not. What was
// read between two calls that return the same was the state of the moment.
func (s *Shard) epoch() uint64 {
	if s.lead != nil {
		return s.lead()
	}
	return s.Env.Partition.Epoch()
}

// A Member is a node of the cluster.
type Member struct {
	Name    string
	Address string // of the Redis protocol, as other nodes and clients find it
	Alive   bool
	Held    []bool // by partition: it has a copy in memory
}

// Config is what a node routes with.
type Config struct {
	Shards Shards
	Home   *command.Env // of sessions without a partition: see [command.Cluster]
	Secret string       // that nodes show each other

	// Redirect has commands about keys that another node leads answered with MOVED.
	Redirect bool

	// Dial connects to the Redis address of another node; nil means TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)

	// Report is told why another node could not be connected to; nil means nothing is.
	Report func(address string, err error)

	// Status returns what CLUSTER STATUS answers.
	Status func(context.Context) []byte

	// Patience is how long commands wait for a leader; 0 means 15 s.
	Patience time.Duration
}

const (
	defaultPatience = 15 * time.Second // an election takes 4 to 11 s
	dialTime        = 3 * time.Second
)

// A Node is what all connections of a process share.
type Node struct {
	Config
	shards     Shards
	partitions int
	routes     []route // by number of the command
	commands   known
	spread     directory
	ended      context.Context //nolint:containedctx // it ends with the node
	end        context.CancelFunc

	mu      sync.Mutex
	serving map[net.Conn]bool // connections of other nodes
	asked   *question         // the last one; nil at first
}

// known are commands that the router sends.
type known struct {
	multi, exec, dbSize, randomKey, keys           call
	create, del, exists, expiry, expireAt, persist call
}

// New returns the router of a node.
func New(c Config) *Node {
	n := &Node{Config: c, shards: c.Shards, partitions: c.Shards.Partitions(), serving: make(map[net.Conn]bool)}
	if n.Patience == 0 {
		n.Patience = defaultPatience
	}
	if n.Dial == nil {
		n.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	n.ended, n.end = context.WithCancel(context.Background())
	n.makeRoutes()
	return n
}

// Close ends the waits of all sessions, and the connections of other nodes when the requests
// that run are answered.
func (n *Node) Close() {
	n.end()
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.serving {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // reading ends at once
	}
}

// of returns the partition of a key.
func (n *Node) of(name []byte) int { return Partition(name, n.partitions) }
