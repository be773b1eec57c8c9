package cluster

import (
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// The names of costs. Times are µs of processor time unless they are waited for.
const (
	query   = "query, at the leader, µs"
	add     = "add, at the leader, µs"
	forward = "command, at the node that forwards it, µs"
	apply   = "add, at a follower, µs"
	client  = "command, at the client, µs"

	alone  = "record, at a node alone, µs"
	lead   = "record, at the leader, with a copy of the log, µs"
	replay = "record, at a follower with a copy of the log, µs"
	follow = "record, at a follower without, µs"
	idle   = "idle partition, at a node, µs per second"

	write     = "add, in the goroutine that writes its partition, waiting, µs"
	waitAlone = "commit on one disk, waiting, µs"
	wait      = "commit on two of three disks, waiting, µs"

	netRecord  = "record on the network, for each receiver, bytes"
	netAdd     = "add on the network, for each receiver, bytes"
	diskRecord = "record on a disk, bytes"
	diskAdd    = "add on a disk, bytes"
	bits       = "memory of a key, bits"
)

var costNames = []string{query, add, forward, apply, client, alone, lead, replay, follow, idle, write, waitAlone, wait, netRecord, netAdd, diskRecord, diskAdd, bits}

// costs are what single operations take, by name.
type costs lab.Figures

// keep is what a record takes at a node only because that has a copy of the log.
func (c costs) keep() float64 { return math.Max(0, c[replay]-c[follow]) }

const (
	copiesOfLog   = 3
	commandBytes  = 60        // of the network: a command with a key of 16 bytes, or its answer
	largestRecord = 512 << 10 // bytes of effects
	second        = 1e6       // µs
)

// machine is what a node can do in a second, and the µs of a commit that waits for none of
// that. A server of logs has the same.
type machine struct{ cores, syncs, disk, net, wait float64 }

// plan is a cluster with a load. Its clients wait for answers before they send more.
type plan struct {
	nodes, partitions int
	all               bool    // every node follows all partitions
	logs              int     // servers that keep nothing but logs; 0: the nodes keep them
	writers           float64 // adds on their way
	pipeline          float64 // adds that come together
	shared            bool    // nodes and clients share one machine, which counts as one for each node
}

// shares are those of all partitions at one machine, the busiest of its sort.
type shares struct {
	lead, kept float64 // partitions that it leads, and those that it keeps the log of
	heads      float64 // logs that it sends to the others
	gets       float64 // commands, of which clients send to any node
	follow     float64 // partitions that it only follows
}

func (p plan) shares() []shares {
	all, nodes := float64(p.partitions), float64(p.nodes)
	part := func(of, machines float64) float64 {
		if p.shared {
			return of / machines
		}
		return math.Min(1, math.Ceil(of*all/machines)/all)
	}
	node := shares{lead: part(1, nodes), gets: 1 / nodes}
	if p.all {
		node.follow = 1 - node.lead
	}
	if p.logs > 0 {
		logs := float64(p.logs)
		return []shares{node, {kept: part(math.Min(copiesOfLog, logs), logs), heads: part(1, logs)}}
	}
	node.kept, node.heads = part(math.Min(copiesOfLog, nodes), nodes), node.lead
	return []shares{node}
}

// What ends the growth of a cluster.
const (
	latency    = "clients that wait"     // more of them would get more
	writer     = "writer of a partition" // one goroutine
	processor  = "processor"
	diskSyncs  = "syncs of the disk"
	diskBytes  = "bytes to the disk"
	network    = "network"
	recordSize = "size of a record"
)

// need is what a machine uses of a resource for a record of the cluster and for a command.
type need struct {
	name              string
	has, record, each float64
}

// needs returns those of a machine.
func (c costs) needs(p plan, m machine, s shares, one string) []need {
	forwarded, receivers := s.gets*(1-s.lead), math.Min(copiesOfLog, float64(p.nodes))-1
	cpu := need{name: processor, has: m.cores * second, each: s.lead*c[one] + forwarded*c[forward]}
	net := need{name: network, has: m.net, each: commandBytes * (s.gets + 2*forwarded)}
	if p.shared {
		cpu.each += s.gets * c[client]
	}
	if one == query { // with nothing to write, a leader appends a beat each second
		beats := (s.kept*c[idle] + math.Max(0, s.follow-s.kept)*c[follow]) * float64(p.partitions)
		cpu.has = math.Max(cpu.has/10, cpu.has-beats)
		return []need{cpu, net}
	}
	if p.all {
		receivers += float64(p.nodes - 1)
	}
	cpu.each += s.follow * c[apply]
	cpu.record = c[alone]
	if p.nodes > 1 {
		cpu.record = s.lead*(c[lead]-c.keep()) + s.kept*c.keep() + s.follow*c[follow]
	}
	sent := s.lead + s.heads*receivers // to the log, and from there
	net.record, net.each = sent*c[netRecord], net.each+sent*c[netAdd]
	return []need{
		cpu, net,
		{name: diskSyncs, has: m.syncs, record: s.kept},
		{name: diskBytes, has: m.disk, record: s.kept * c[diskRecord], each: s.kept * c[diskAdd]},
	}
}

// outcome is what a closed load gets.
type outcome struct {
	rate  float64 // operations per second
	waits float64 // µs, of an add
	limit string  // what ends the growth of the rate
}

// solve returns what a load gets.
//
// Each partition has one record on its way; adds that come meanwhile are the next one, so
// half of the writers are in a record and half wait for it. A round, a record of each
// partition, takes the time of a commit and of its adds one after the other, or what the
// busiest resource takes for all of these records if that is longer.
func (c costs) solve(p plan, m machine, one string) outcome {
	records := math.Min(float64(p.partitions), p.writers/p.pipeline)
	batch := math.Max(p.pipeline, p.writers/2/float64(p.partitions))
	round, limit := 0.0, latency
	if one == add {
		if largest := largestRecord / c[netAdd]; batch > largest {
			batch, limit = largest, recordSize
		}
		if round = m.wait + batch*c[write]; batch*c[write] > m.wait {
			limit = writer
		}
	}
	for _, s := range p.shares() {
		for _, n := range c.needs(p, m, s, one) {
			if took := records * (n.record + batch*n.each) / n.has * second; took > round {
				round, limit = took, n.name
			}
		}
	}
	return outcome{records * batch / round * second, p.writers / (records * batch) * round, limit}
}

// memory returns the bytes of the keys at the fullest node.
func (c costs) memory(p plan, keys float64) float64 {
	if p.all {
		return keys * c[bits] / 8
	}
	return keys * c[bits] / 8 * p.shares()[0].lead
}
