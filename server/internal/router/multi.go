package router

import (
	"github.com/everbloom-go/everbloom/server/internal/command"
)

// queue has a command wait for EXEC, in the home session. All commands of a transaction are for
// one partition.
func (s *Session) queue(r *route, cmd *command.Command, args [][]byte) error {
	problem := s.home.Check(cmd, args)
	i := s.multi
	switch {
	case problem != "":
	case r.wide:
		problem = "ERR " + cmd.Name + " is not allowed in a transaction of a cluster: a transaction is about one partition"
	case r.keyed:
		var ok bool
		i, ok = s.partitionOf(cmd, args)
		if !ok || s.multi >= 0 && i != s.multi || s.watches > 0 && i != s.watched {
			problem = crossSlot
		} else if address := s.elsewhere(i); address != "" {
			problem = movedText(call{cmd: cmd, args: args}, address)
		}
	}
	if problem != "" {
		return s.answer(func() { s.home.Refuse(problem) })
	}
	s.multi = i
	return s.home.Run(cmd, args)
}

// elsewhere returns the address that clients are to be sent to for a partition, "" if they are
// not.
func (s *Session) elsewhere(i int) string {
	if !s.node.Redirect {
		return ""
	}
	if shard := s.node.shards.Shard(i); shard != nil && shard.epoch() != 0 {
		return ""
	}
	if l := s.node.shards.Leader(i); l.Node != s.node.shards.Self() {
		return l.Address
	}
	return ""
}

// exec hands a transaction to its partition.
func (s *Session) exec(cmd *command.Command, args [][]byte) error {
	defer s.endMulti()
	calls := []call{s.node.commands.multi}
	if !s.home.Queued(func(cmd *command.Command, args [][]byte) { calls = append(calls, call{cmd: cmd, args: args}) }) {
		return s.home.Run(cmd, args) // which says what is wrong
	}
	s.home.EndMulti()
	l := s.lane(s.multiPartition())
	for _, c := range append(calls, call{cmd: cmd, args: args}) {
		s.charge(l, c)
	}
	l.purpose, l.watch, l.watches = transaction, s.watch, s.watches
	_, err := s.last(l)
	return err
}

// last carries out the work of a lane and answers its last reply. It reports whether that is no
// error.
func (s *Session) last(l *lane) (ok bool, err error) {
	defer s.forget()
	if err := s.carryOut(); err != nil {
		return false, err
	}
	reply, rest := []byte(nil), l.reply
	for range l.calls {
		if reply, rest, err = cut(rest); err != nil {
			return false, err
		}
	}
	if m, ok := misrouted(reply); ok {
		reply = errorReply(notSpread(&task{call: l.calls[len(l.calls)-1], misroute: m}))
	}
	return !failed(reply), s.answer(func() { s.w.Raw(reply) })
}

// multiPartition returns the partition of the transaction: any one if it names no key, one that
// this node leads if there is one.
func (s *Session) multiPartition() int {
	switch {
	case s.multi >= 0:
		return s.multi
	case s.watches > 0:
		return s.watched
	}
	for i := range s.node.partitions {
		if shard := s.node.shards.Shard(i); shard != nil && shard.epoch() != 0 {
			return i
		}
	}
	return 0
}

// endMulti forgets the transaction and what is watched. The session of the partition notices
// by the number of the watches.
func (s *Session) endMulti() {
	s.multi, s.watches = -1, 0
	s.watch++
}

// discard ends a transaction, or makes the session as new.
func (s *Session) discard(cmd *command.Command, args [][]byte) error {
	if cmd.Name == "reset" {
		s.readOnly = false
	}
	if s.home.Queueing() || cmd.Name == "reset" {
		s.endMulti()
	}
	return s.home.Run(cmd, args)
}

func (s *Session) unwatch(cmd *command.Command, args [][]byte) error {
	s.endMulti()
	return s.home.Run(cmd, args)
}

// watchKeys has the partition of keys watch them.
func (s *Session) watchKeys(cmd *command.Command, args [][]byte) error {
	if s.home.Queueing() {
		return s.home.Run(cmd, args)
	}
	i, ok := s.partitionOf(cmd, args)
	if !ok || s.watches > 0 && i != s.watched {
		return s.answer(func() { s.w.Err(crossSlot) })
	}
	var err error
	l := s.lane(i)
	s.charge(l, call{cmd: cmd, args: args})
	l.purpose, l.watch, l.redirects = watching, s.watch, s.node.Redirect
	if ok, err = s.last(l); ok {
		s.watched = i
		s.watches++
	}
	return err
}

// setReadOnly has reads come from the copy of this node, or not.
func (s *Session) setReadOnly(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	s.readOnly = cmd.Name == "readonly"
	return s.answer(func() { s.w.OK() })
}
