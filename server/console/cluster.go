package console

import (
	"net/http"
	"time"
)

// A Cluster is what the servers of a cluster told lately.
type Cluster struct {
	Nodes      []Node // by name
	Partitions []Partition
	Problems   []string
}

// A Node is a server of a cluster.
type Node struct {
	Name, Address, Version string
	Self                   bool // it is this server
	Leads                  int
	Behind                 uint64 // records that it has yet to apply
	Sets, Bytes            int64
	Silence                time.Duration // since it was heard
	Gone                   bool          // for too long
}

// A Partition is one of a cluster's.
type Partition struct {
	Number  int
	Leader  string // empty if it has none
	Epoch   uint32
	Records uint64
	Sets    int64
	Bytes   int64
	Copies  []Copy // one for each node
}

// A Copy is a partition in a node.
type Copy struct {
	Held, Leads bool
	Lease       time.Duration // that is left
	Behind      uint64
}

// clusterPage shows nodes and partitions.
func (c *Console) clusterPage(*http.Request, User) (frame, error) {
	v := c.source.Cluster()
	if v == nil {
		return frame{}, problem{http.StatusNotFound, "This server is alone. docs/cluster.md says how to run several."}
	}
	return frame{Title: "Cluster", Page: "cluster", View: v}, nil
}
