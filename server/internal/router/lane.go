package router

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// A lane is the way of a connection's commands to one partition.
type lane struct {
	work
	seat      seat
	peer      *peer // that has the work; nil if it is not sent
	here      bool  // the seat has the work
	redirects bool  // the work may be answered with MOVED
}

// take adds a command to the work.
func (l *lane) take(c call) {
	l.calls = append(l.calls, c)
	l.writes = l.writes || c.cmd.Flags&command.Write != 0
}

// clear ends the batch. A buffer that is much larger than usual is let go.
func (l *lane) clear() {
	if l.seat.session != nil {
		if w := l.seat.session.Writer(); w.Len() > maxKeptReply {
			new(resp.Writer).Swap(w)
		} else {
			w.Reset()
		}
	}
	clear(l.calls)
	l.work = work{partition: l.partition, calls: l.calls[:0]}
	if cap(l.calls) > maxBatch {
		l.calls = nil
	}
}

// maxKeptReply is how large the buffer for replies of a lane may stay.
const maxKeptReply = 64 << 10

// errUnknown is returned when it is not known whether commands were carried out.
var errUnknown = errors.New("router: the outcome is unknown")

// errEnded is returned when commands wait for a leader and the node ends.
var errEnded = errors.New("router: the node ends")

// carryOut has the work of all lanes done.
func (s *Session) carryOut() error {
	todo := s.used
	var p pause
	for {
		s.attempt(todo)
		var left []*lane
		for _, l := range todo {
			if err := s.look(l); err != nil {
				return err
			}
			if l.status != done {
				left = append(left, l)
			}
		}
		if len(left) == 0 {
			return nil
		}
		s.keepReplies()
		switch more, err := p.wait(s.node, left); {
		case err != nil:
			return err
		case !more:
			giveUp(left)
			return nil
		}
		todo = left
	}
}

// look sees what became of a lane's work.
func (s *Session) look(l *lane) error {
	switch l.status {
	case unknown:
		return errUnknown
	case unwatched:
		var w resp.Writer
		w.SetVersion(s.w.Version())
		for range len(l.calls) - 1 {
			w.OK() // they are not looked at
		}
		w.NullArray()
		l.status, l.reply = done, w.Bytes()
	case done:
		if l.writes {
			s.wrote(l.partition, l.record)
		}
	}
	return nil
}

// attempt has work done by the nodes that lead now: at the same time by all of them.
func (s *Session) attempt(todo []*lane) {
	var asked []*peer
	for _, l := range todo {
		s.place(l)
		if p := l.peer; p != nil {
			if len(p.works) == 0 {
				asked = append(asked, p)
			}
			p.works = append(p.works, &l.work)
		}
	}
	for _, p := range asked {
		p.send(s.home)
	}
	user, version := s.home.User(), s.w.Version()
	for _, l := range todo {
		if l.here {
			l.seat.session.Assume(user, version)
			l.seat.start(&l.work)
		}
	}
	for _, l := range todo {
		if l.here {
			l.seat.finish(&l.work)
		}
	}
	for _, p := range asked {
		p.receive(s.node)
	}
}

// place says where the work of a lane is done, or answers it. Nothing is said if no leader is
// known.
func (s *Session) place(l *lane) {
	hint := l.leader
	l.here, l.copy, l.peer, l.status = false, false, nil, notLeading
	shard := s.node.shards.Shard(l.partition)
	if shard != nil {
		leads := shard.epoch() != 0
		l.copy = s.readOnly && !l.writes && l.purpose == ordinary && !leads
		if leads || l.copy {
			l.here = true
			l.seat.take(shard, s.home.Fork)
			return
		}
	}
	leader := s.node.shards.Leader(l.partition)
	if hint.Epoch > leader.Epoch {
		leader = hint
	}
	if leader.Address == "" || leader.Node == s.node.shards.Self() {
		l.leader = partition.Leader{}
		return
	}
	if l.redirects && l.purpose != transaction {
		l.status, l.reply = done, moved(l, leader.Address)
		return
	}
	l.leader = leader
	l.peer = s.peer(leader.Address)
}

// moved answers commands whose keys another node leads.
func moved(l *lane, address string) []byte {
	var w resp.Writer
	for _, c := range l.calls {
		w.Err(movedText(c, address))
	}
	return w.Bytes()
}

func movedText(c call, address string) string {
	return fmt.Sprintf("MOVED %d %s", Slot(c.args[c.cmd.First]), address)
}

// keepReplies copies the replies that are there: peers are asked again.
func (s *Session) keepReplies() {
	for _, l := range s.used {
		if l.status == done && l.peer != nil {
			l.reply, l.peer = bytes.Clone(l.reply), nil
		}
	}
}

// giveUp answers commands for which there was no leader, or one that cannot be reached.
func giveUp(left []*lane) {
	for _, l := range left {
		problem := fmt.Sprintf("CLUSTERDOWN no leader for partition %d; try again later", l.partition)
		if !l.here && l.leader.Address != "" && (l.peer == nil || l.peer.broken) {
			problem = fmt.Sprintf("CLUSTERDOWN the leader %s at %s of partition %d cannot be reached; try again later", l.leader.Node, l.leader.Address, l.partition)
		}
		var w resp.Writer
		for range l.calls {
			w.Err(problem)
		}
		l.status, l.reply = done, w.Bytes()
	}
}

// A pause is the time between two attempts.
type pause struct {
	since time.Time // of the first attempt that failed
	next  time.Duration
}

const (
	firstPause = time.Millisecond
	maxPause   = 100 * time.Millisecond
)

// wait waits until work may be tried again. It reports false when that took too long.
func (p *pause) wait(n *Node, left []*lane) (more bool, err error) {
	if p.since.IsZero() {
		p.since, p.next = begun(left), firstPause
		if told(left) {
			return true, nil
		}
	}
	if time.Since(p.since) >= n.Patience {
		return false, nil
	}
	select {
	case <-n.ended.Done():
		return false, errEnded
	case <-time.After(p.next):
	}
	p.next = min(2*p.next, maxPause)
	return true, nil
}

// begun returns since when work waits: the first node that was asked may have taken long.
func begun(left []*lane) time.Time {
	at := time.Now()
	for _, l := range left {
		if l.peer != nil && l.peer.now.Before(at) {
			at = l.peer.now
		}
	}
	return at
}

// told reports whether nodes that do not lead have said which one does.
func told(left []*lane) bool {
	for _, l := range left {
		if l.leader == (partition.Leader{}) {
			return false
		}
	}
	return true
}

// peer returns the connection to the node at an address, nil if there is none.
func (s *Session) peer(address string) *peer {
	p := s.peers[address]
	if p != nil && p.usable() {
		return p
	}
	if p != nil {
		p.close()
		delete(s.peers, address)
	}
	c, err := s.node.connect(address)
	if err != nil {
		if s.node.Report != nil && s.node.ended.Err() == nil {
			s.node.Report(address, err)
		}
		return nil
	}
	if s.peers == nil {
		s.peers = make(map[string]*peer)
	}
	p = &peer{conn: c, inbox: inbox{limit: maxMessage}, now: time.Now()}
	s.peers[address] = p
	return p
}
