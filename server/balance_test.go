package server

import "testing"

// TestSurplus has a server lead three of four partitions. Of two others that lead as few, one
// holds another partition, as with copies 1.
func TestSurplus(t *testing.T) {
	node := func(name string, parts ...PartitionStatus) NodeStatus {
		return NodeStatus{Node: name, Partitions: parts}
	}
	leads, holds, none := PartitionStatus{Held: true, Leads: true, Applied: nearEnough + 2}, PartitionStatus{Held: true, Applied: 2}, PartitionStatus{}
	own := node("n1", leads, leads, leads, none)
	for name, c := range map[string]struct {
		others    []NodeStatus
		partition int
		to        string
	}{
		"the second one holds one": {[]NodeStatus{node("n2", none, none, none, none), node("n3", none, holds, none, none)}, 1, "n3"},
		"the fewest first":         {[]NodeStatus{node("n2", holds, none, none, leads), node("n3", none, none, holds, none)}, 2, "n3"},
		"too far behind":           {[]NodeStatus{node("n2", PartitionStatus{Held: true, Applied: 1}, none, none, none)}, 0, ""},
		"one less is enough":       {[]NodeStatus{node("n2", holds, leads, none, leads)}, 0, ""},
	} {
		if i, to := surplus(own, c.others); i != c.partition || to != c.to {
			t.Errorf("%s: partition %d to %q", name, i, to)
		}
	}
}
