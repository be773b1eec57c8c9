package router

import (
	"crypto/sha1" //nolint:gosec // it makes names of 40 digits, not secrets
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// cluster answers CLUSTER and a subcommand.
func (s *Session) cluster(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	name := strings.ToLower(string(args[1]))
	sub, ok := subcommands[name]
	switch {
	case !ok:
		return s.answer(func() { s.w.Err(fmt.Sprintf("ERR unknown subcommand '%.128s'. Try CLUSTER HELP.", args[1])) })
	case sub.words != len(args):
		return s.answer(func() { s.w.Err("ERR wrong number of arguments for 'cluster|" + name + "' command") })
	case sub.ask != nil:
		return sub.ask(s, args)
	}
	return s.answer(func() { sub.tell(s, args) })
}

// A subcommand of CLUSTER either tells what is known here, or asks the leader.
type subcommand struct {
	words int
	tell  func(s *Session, args [][]byte)
	ask   func(s *Session, args [][]byte) error
}

var subcommands = map[string]subcommand{
	"keyslot":         {3, func(s *Session, args [][]byte) { s.w.Int(int64(Slot(args[2]))) }, nil},
	"myid":            {2, func(s *Session, _ [][]byte) { s.w.Text(nodeID(s.node.shards.Self())) }, nil},
	"status":          {2, func(s *Session, _ [][]byte) { s.w.Bulk(s.node.Status(s.node.ended)) }, nil},
	"info":            {2, (*Session).clusterInfo, nil},
	"nodes":           {2, (*Session).clusterNodes, nil},
	"slots":           {2, (*Session).clusterSlots, nil},
	"shards":          {2, (*Session).clusterShards, nil},
	"countkeysinslot": {3, nil, (*Session).keysInSlot},
	"getkeysinslot":   {4, nil, (*Session).keysInSlot},
}

// nodeID returns the name of a node as cluster clients want it: 40 hexadecimal digits.
func nodeID(name string) string {
	return fmt.Sprintf("%x", sha1.Sum([]byte(name))) //nolint:gosec // it is not a secret
}

// led returns the slots of each leader that is alive as clients are to know it: this node has
// all of them if it forwards.
func (n *Node) led() (list []span) {
	if !n.Redirect {
		return []span{{0, slots - 1, n.shards.Self()}}
	}
	for s := range n.spans() {
		if s.leader != "" {
			list = append(list, s)
		}
	}
	return list
}

// member returns the node of a name.
func (n *Node) member(name string) (m Member, ok bool) {
	for _, m := range n.shards.Members() {
		if m.Name == name {
			return m, true
		}
	}
	return Member{}, false
}

func splitAddress(address string) (host string, port int64) {
	host, digits, err := net.SplitHostPort(address)
	if err != nil {
		return address, 0
	}
	port, _ = strconv.ParseInt(digits, 10, 64)
	return host, port
}

func (s *Session) clusterInfo(_ [][]byte) {
	state, assigned, leaders := "ok", 0, make(map[string]bool)
	alive := make(map[string]bool)
	for _, m := range s.node.shards.Members() {
		alive[m.Name] = m.Alive
	}
	epoch := uint32(0)
	for i := range s.node.partitions {
		l := s.node.shards.Leader(i)
		epoch = max(epoch, l.Epoch)
		leads := alive[l.Node]
		if l.Node == s.node.shards.Self() {
			shard := s.node.shards.Shard(i)
			leads = shard != nil && shard.epoch() != 0
		}
		if !leads {
			state = "fail"
			continue
		}
		first, last := slotsOf(i, s.node.partitions)
		assigned += last - first + 1
		leaders[l.Node] = true
	}
	s.w.Verbatim(fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:%d\r\n"+
		"cluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%d\r\ncluster_my_epoch:%d\r\n",
		state, slots, assigned, slots-assigned, len(s.node.shards.Members()), len(leaders), epoch, epoch))
}

func (s *Session) clusterNodes(_ [][]byte) {
	ranges := make(map[string]string)
	for _, sp := range s.node.led() {
		ranges[sp.leader] += fmt.Sprintf(" %d-%d", sp.first, sp.last)
	}
	var b strings.Builder
	for _, m := range s.node.shards.Members() {
		flags, link := "master", "connected"
		if m.Name == s.node.shards.Self() {
			flags = "myself,master"
		}
		if !m.Alive {
			flags, link = flags+",fail", "disconnected"
		}
		fmt.Fprintf(&b, "%s %s@0 %s - 0 0 0 %s%s\n", nodeID(m.Name), m.Address, flags, link, ranges[m.Name])
	}
	s.w.Verbatim(b.String())
}

// holds reports whether a node has a copy of all partitions with some slots.
func (n *Node) holds(m Member, sp span) bool {
	for i := sp.first * n.partitions / slots; i <= sp.last*n.partitions/slots; i++ {
		if i >= len(m.Held) || !m.Held[i] {
			return false
		}
	}
	return true
}

// clusterSlots tells the leader of each range of slots, and where else it can be read.
func (s *Session) clusterSlots(_ [][]byte) {
	members := s.node.shards.Members()
	list := slices.DeleteFunc(s.node.led(), func(sp span) bool {
		_, ok := s.node.member(sp.leader)
		return !ok
	})
	s.w.Array(len(list))
	for _, sp := range list {
		nodes := []Member{}
		for _, m := range members {
			if m.Name == sp.leader {
				nodes = slices.Insert(nodes, 0, m)
			} else if m.Alive && s.node.Redirect && s.node.holds(m, sp) {
				nodes = append(nodes, m)
			}
		}
		s.w.Array(2 + len(nodes))
		s.w.Int(int64(sp.first))
		s.w.Int(int64(sp.last))
		for _, m := range nodes {
			host, port := splitAddress(m.Address)
			s.w.Array(4)
			s.w.Text(host)
			s.w.Int(port)
			s.w.Text(nodeID(m.Name))
			s.w.Array(0)
		}
	}
}

// clusterShards tells what each leader has.
func (s *Session) clusterShards(_ [][]byte) {
	ranges := make(map[string][]span)
	for _, sp := range s.node.led() {
		ranges[sp.leader] = append(ranges[sp.leader], sp)
	}
	members := s.node.shards.Members()
	s.w.Array(len(members))
	for _, m := range members {
		s.w.Map(2)
		s.w.Text("slots")
		s.w.Array(2 * len(ranges[m.Name]))
		for _, sp := range ranges[m.Name] {
			s.w.Int(int64(sp.first))
			s.w.Int(int64(sp.last))
		}
		s.w.Text("nodes")
		s.w.Array(1)
		s.clusterNode(m)
	}
}

// clusterNode describes a node as CLUSTER SHARDS does.
func (s *Session) clusterNode(m Member) {
	host, port := splitAddress(m.Address)
	health := "online"
	if !m.Alive {
		health = "failed"
	}
	s.w.Map(7)
	for _, pair := range [][2]string{{"id", nodeID(m.Name)}, {"ip", host}, {"endpoint", host}, {"role", "master"}, {"health", health}} {
		s.w.Text(pair[0])
		s.w.Text(pair[1])
	}
	s.w.Text("port")
	s.w.Int(port)
	s.w.Text("replication-offset")
	s.w.Int(0)
}

// keysInSlot counts the keys of a slot, or tells some. It looks at all names of the partition.
func (s *Session) keysInSlot(args [][]byte) error {
	slot, ok := resp.ParseInt(args[2])
	if !ok || slot < 0 || slot >= slots {
		return s.answer(func() { s.w.Err("ERR Invalid slot") })
	}
	most := int64(0)
	if len(args) == 4 {
		if most, ok = resp.ParseInt(args[3]); !ok || most < 0 {
			return s.answer(func() { s.w.Err("ERR Invalid slot or number of keys") })
		}
	}
	s.charge(s.lane(int(slot)*s.node.partitions/slots), s.node.commands.keys)
	var found [][]byte
	problem, err := s.ask(func(_ int, replies [][]byte) {
		n, rest := elements(replies[0])
		for range n {
			var one []byte
			one, rest, _ = cut(rest)
			if name, _ := text(one); Slot(name) == int(slot) {
				found = append(found, slices.Clone(name))
			}
		}
	})
	return s.finish(problem, err, func() {
		if len(args) == 3 {
			s.w.Int(int64(len(found)))
			return
		}
		found = found[:min(len(found), int(most))]
		s.w.Array(len(found))
		for _, name := range found {
			s.w.Bulk(name)
		}
	})
}
