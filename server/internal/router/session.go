package router

import (
	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// A Session is what a connection remembers. One goroutine uses it.
type Session struct {
	node  *Node
	home  *command.Session
	w     *resp.Writer // of home: the replies that were not sent yet
	lanes []*lane      // by partition; nil if it was not needed yet
	peers map[string]*peer

	order []entry // the commands of the batch that wait
	used  []*lane // that have some
	bytes int     // of their arguments
	muted bool    // one of them has no reply

	spreads bool  // one of them is about a set that is spread
	view    *view // what is known of such sets, for the whole batch

	readOnly bool
	multi    int // the partition of the transaction that is being collected, -1 if it is not known
	watch    uint64
	watches  uint64
	watched  int         // the partition of the keys that are watched
	records  []uint64    // that it has written, the last ones by partition
	gone     func() bool // reports whether the client is; nil if it cannot be seen
	upgraded bool
}

// An entry is one command of a batch: where it runs.
type entry struct {
	lane  *lane
	task  *task // if the set is spread, and several lanes may have pieces of it; else nil
	muted bool  // the client does not want the reply
}

// A batch is not larger than this, in commands and in bytes of their arguments. A session of a
// partition takes a few more commands before it decides by itself to commit.
const (
	maxBatch      = 8192
	maxBatchBytes = 16 << 20
)

// NewSession returns the session of a new connection.
func (n *Node) NewSession(id int64, addr, local string) *Session {
	s := &Session{node: n, home: command.NewSession(n.Home, id, addr, local), multi: -1, watch: 1}
	s.w = s.home.Writer()
	return s
}

// Home returns the session of what is about the connection.
func (s *Session) Home() *command.Session { return s.home }

// Writer returns the replies that were not sent yet.
func (s *Session) Writer() *resp.Writer { return s.w }

// Closing reports whether the connection is to be closed when all replies are sent.
func (s *Session) Closing() bool { return s.home.Closing() }

// Authenticated reports whether the client has said which user it is.
func (s *Session) Authenticated() bool { return s.home.Authenticated() }

// Waiting reports whether commands wait for Flush.
func (s *Session) Waiting() bool { return len(s.order) > 0 }

// Answer does nothing: what has a reply is answered.
func (s *Session) Answer() {}

// Upgraded reports whether the connection is that of another node from now on: it is handed to
// [Node.ServePeer] when the reply is sent.
func (s *Session) Upgraded() bool { return s.upgraded }

// Begin is called when bytes have arrived.
func (s *Session) Begin() { s.home.Begin() }

// End is called when what has arrived is handled.
func (s *Session) End() { s.home.End() }

// Close lets go what the session holds, when its connection has ended.
func (s *Session) Close() {
	for _, l := range s.lanes {
		if l != nil {
			l.seat.leave()
		}
	}
	for _, p := range s.peers {
		p.close()
	}
	s.home.Close()
}

// Take runs a command, or has it wait for Flush. Arguments must stay as they are until then.
func (s *Session) Take(args [][]byte) error {
	cmd := s.home.Lookup(args)
	if cmd == nil || !cmd.Takes(len(args)) || len(args) <= cmd.First || !s.home.Authenticated() {
		return s.takeOdd(cmd, args)
	}
	r := &s.node.routes[cmd.Number()]
	if s.home.Queueing() && !r.inMulti {
		return s.queue(r, cmd, args)
	}
	switch {
	case r.run != nil && !r.split:
		return s.barrier(func() error { return r.run(s, cmd, args) })
	case !r.keyed:
		return s.barrier(func() error { return s.home.Run(cmd, args) })
	}
	if v := s.node.spread.view.Load(); v != s.view {
		if err := s.Flush(); err != nil {
			return err
		}
		s.view = v
	}
	if s.view != nil || cmd == s.node.commands.create.cmd {
		if taken, err := s.takeSpread(r, call{cmd: cmd, args: args}); taken || err != nil {
			return s.flushFull(err)
		}
	}
	i, ok := s.partitionOf(cmd, args)
	if !ok {
		return s.barrier(func() error { return s.takeSeveral(r, cmd, args) })
	}
	if cmd.Flags&command.Alone != 0 {
		if err := s.Flush(); err != nil {
			return err
		}
	}
	s.add(s.lane(i), call{cmd: cmd, args: args})
	if cmd.Flags&command.Alone != 0 {
		return s.Flush()
	}
	return s.flushFull(nil)
}

// flushFull ends a batch that is large enough, unless there was an error.
func (s *Session) flushFull(err error) error {
	if err == nil && (len(s.order) >= maxBatch || s.bytes >= maxBatchBytes) {
		return s.Flush()
	}
	return err
}

const crossSlot = "CROSSSLOT Keys in request don't hash to the same slot"

// takeSeveral takes a command about keys of several partitions.
func (s *Session) takeSeveral(r *route, cmd *command.Command, args [][]byte) error {
	if r.split {
		return r.run(s, cmd, args)
	}
	return s.answer(func() { s.w.Err(crossSlot) })
}

// takeOdd takes a command that no partition can run: for want of a key, say.
func (s *Session) takeOdd(cmd *command.Command, args [][]byte) error {
	return s.barrier(func() error {
		if cmd == nil && IsPeering(args) {
			return s.upgrade(args)
		}
		return s.home.Run(cmd, args)
	})
}

// barrier runs a function when the commands before it are done.
func (s *Session) barrier(do func() error) error {
	if err := s.Flush(); err != nil {
		return err
	}
	return do()
}

// answer writes a reply, unless the client wants none.
func (s *Session) answer(write func()) error {
	before := s.w.Len()
	write()
	if s.home.Mute() {
		s.w.Truncate(before)
	}
	return nil
}

// partitionOf returns the partition of the keys of a command. It reports false if they have
// several.
func (s *Session) partitionOf(cmd *command.Command, args [][]byte) (i int, ok bool) {
	i = s.node.of(args[cmd.First])
	if cmd.Last == cmd.First {
		return i, true
	}
	for at := range cmd.Keys(len(args)) {
		if s.node.of(args[at]) != i {
			return 0, false
		}
	}
	return i, true
}

// add has a command wait in a lane.
func (s *Session) add(l *lane, c call) {
	muted := s.home.Mute()
	s.muted = s.muted || muted
	s.order = append(s.order, entry{lane: l, muted: muted})
	s.load(l, c)
}

// load gives a lane a command whose reply belongs to the batch.
func (s *Session) load(l *lane, c call) {
	if len(l.calls) == 0 {
		s.used = append(s.used, l)
	}
	l.redirects = s.node.Redirect
	l.take(c)
	for _, a := range c.args {
		s.bytes += len(a)
	}
}

// lane returns the lane of a partition.
func (s *Session) lane(i int) *lane {
	if s.lanes == nil {
		s.lanes = make([]*lane, s.node.partitions)
	}
	if s.lanes[i] == nil {
		s.lanes[i] = &lane{work: work{partition: i}}
	}
	return s.lanes[i]
}

// Flush waits for the commands that wait. With an error the connection must be closed and no
// reply be sent.
func (s *Session) Flush() error {
	if len(s.order) == 0 {
		return nil
	}
	err := s.carryOut()
	if err == nil {
		err = s.gather()
	}
	s.forget()
	return err
}

// gather puts the replies of the batch in order.
func (s *Session) gather() (err error) {
	if s.spreads || s.strayed() {
		return s.gatherSpread()
	}
	if len(s.used) == 1 && !s.muted {
		s.w.Raw(s.used[0].reply)
		return nil
	}
	for _, e := range s.order {
		var reply []byte
		if reply, e.lane.reply, err = cut(e.lane.reply); err != nil {
			return err
		}
		if !e.muted {
			s.w.Raw(reply)
		}
	}
	return nil
}

// forget ends the batch.
func (s *Session) forget() {
	for _, l := range s.used {
		l.clear()
	}
	clear(s.used)
	clear(s.order)
	s.used, s.order, s.bytes = s.used[:0], s.order[:0], 0
	s.muted, s.spreads = false, false
}
