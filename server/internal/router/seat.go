package router

import (
	"errors"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A call is one command. cmd is nil if this release has none of that name.
type call struct {
	cmd  *command.Command
	args [][]byte
	part store.Part // that the keys are, zero if they are whole sets
}

// A work is the commands of a batch that are for one partition, and what became of them.
type work struct {
	partition int
	calls     []call
	writes    bool // one of them may change something
	copy      bool // it may be answered by a node that does not lead
	purpose   purpose
	watch     uint64 // the number of the client's watches, which are forgotten together
	watches   uint64 // how many commands have made them

	status status
	leader partition.Leader // if the node does not lead: the one that does
	record uint64           // with writes: the last one that was applied then
	reply  []byte
}

// A purpose is what a work is besides commands.
type purpose uint8

const (
	ordinary    purpose = iota
	watching            // it is a WATCH
	transaction         // it is MULTI, commands and EXEC
)

// A status is what became of a work.
type status uint8

const (
	waiting    status = iota // nothing was done yet
	done                     // reply has the replies
	notLeading               // nothing was done: another node leads
	unwatched                // nothing was done: the watches of the transaction are gone
	unknown                  // it is unknown what was done
)

// refuse says that nothing was done.
func (w *work) refuse(l partition.Leader) { w.status, w.leader, w.reply = notLeading, l, nil }

// A seat is the session of a connection in one partition of this node.
type seat struct {
	shard   *Shard
	session *command.Session
	watch   uint64 // whose watches the session has
	watches uint64
	started bool
	round   uint64 // the last request that it was in
}

// take makes the seat that of a shard. Another shard has another session.
func (s *seat) take(shard *Shard, open func(*command.Env) *command.Session) {
	if s.shard == shard {
		return
	}
	s.leave()
	s.shard, s.session = shard, open(shard.Env)
}

// leave lets the session go.
func (s *seat) leave() {
	if s.session != nil {
		s.session.Close()
	}
	*s = seat{round: s.round}
}

// start runs the commands of a work as far as they need not wait for the log. It is followed
// by finish.
func (s *seat) start(w *work) {
	epoch := s.shard.epoch()
	if epoch == 0 && !w.copy {
		w.refuse(s.shard.leader())
		return
	}
	if !s.alignWatches(w) {
		w.status = unwatched
		return
	}
	s.session.Begin()
	for _, c := range w.calls {
		if s.session.TakePart(c.part, c.cmd, c.args) != nil {
			w.status = unknown
			return
		}
	}
	if !s.session.Waiting() {
		s.session.Answer()
	}
	if w.purpose == watching && !failed(s.session.Writer().Bytes()) {
		s.watches++
	}
	if !w.copy && s.shard.epoch() != epoch && (s.session.Waiting() || !w.writes) {
		s.forget()
		w.refuse(s.shard.leader())
		return
	}
	s.started = s.session.Start()
	w.status = done
}

// alignWatches brings the watches of the session in line with those of the client. It reports false
// if the session does not have them all.
func (s *seat) alignWatches(w *work) bool {
	if w.purpose == ordinary {
		return true
	}
	if s.watch != w.watch {
		s.session.Discard()
		s.watch, s.watches = w.watch, 0
	}
	return w.purpose == watching || s.watches == w.watches
}

// finish waits for what start left to be done, and takes the replies.
func (s *seat) finish(w *work) {
	if s.started {
		s.started = false
		switch err := s.session.Wait(); {
		case errors.Is(err, partition.ErrNotLeading):
			s.forget()
			w.refuse(s.shard.leader())
		case err != nil:
			w.status = unknown
		}
	}
	if w.status == notLeading {
		return
	}
	s.session.End()
	if s.session.Closing() {
		w.status = unknown
	}
	switch w.status {
	case done:
		w.reply = s.session.Writer().Bytes()
		if w.writes {
			w.record = s.shard.Env.Partition.Applied()
		}
	case unknown:
		s.leave()
	}
}

// forget forgets what the session was asked.
func (s *seat) forget() {
	s.session.Discard()
	s.session.End()
	s.watch, s.watches = 0, 0
}

// leader returns the node that leads, as far as is known.
func (s *Shard) leader() partition.Leader { return s.Env.Partition.Leader() }
