package command

import (
	"time"

	"github.com/everbloom-go/everbloom/server/internal/partition"
)

// A Cluster says what commands need to know of all partitions of a node. There is one Env more:
// that of sessions without a partition, whose Partition is nil and whose store is empty.
type Cluster struct {
	// Totals sums up the partitions of the node, for INFO.
	Totals func() Totals

	// Bytes returns the sum of Bytes over the partitions of the node.
	Bytes func() int64
}

// Totals are numbers of all partitions of a node.
type Totals struct {
	Keys, Expiring int64
	Bytes          int64
	Stats          partition.Stats
	Broken         error // why one of them refuses changes
}

// Add adds those of another partition.
func (t *Totals) Add(o Totals) {
	t.Keys += o.Keys
	t.Expiring += o.Expiring
	t.Bytes += o.Bytes
	t.Stats.Records += o.Stats.Records
	t.Stats.Bytes += o.Stats.Bytes
	t.Stats.Effects += o.Stats.Effects
	t.Stats.Waited += o.Stats.Waited
	t.Stats.Read += o.Stats.Read
	if t.Broken == nil {
		t.Broken = o.Broken
	}
}

// Totals returns the numbers of this partition alone.
func (e *Env) Totals() Totals {
	t := Totals{Bytes: e.Bytes(), Stats: e.Partition.Stats(), Broken: e.Partition.Broken()}
	t.Keys, t.Expiring = e.Store.Len()
	return t
}

// totals returns the numbers of all partitions of the process.
func (e *Env) totals() Totals {
	if e.Cluster != nil {
		return e.Cluster.Totals()
	}
	return e.Totals()
}

// Bytes returns the memory that this partition uses: of all entries, and of those that arrive.
func (e *Env) Bytes() int64 { return e.Store.Bytes() + e.arriving.Load() }

// bytes returns the memory that is in use: in all partitions of the process, and by dumps that
// sessions read.
func (e *Env) bytes() int64 {
	if e.Cluster != nil {
		return e.Cluster.Bytes() + e.held.Load()
	}
	return e.Bytes() + e.held.Load()
}

// elsewhere returns the memory that the other partitions of the process use.
func (e *Env) elsewhere() int64 {
	if e.Cluster != nil {
		return e.Cluster.Bytes() - e.Bytes()
	}
	return 0
}

// bytes returns the memory that is in use, with entries that this batch makes and those that
// arrive.
func (c *Call) bytes() int64 {
	return c.tx.Bytes() + c.env.arrived(c.time()) + c.env.held.Load() + c.env.elsewhere()
}

// mode returns what HELLO and INFO call the server.
func (e *Env) mode() string {
	if e.Cluster != nil {
		return "cluster"
	}
	return "standalone"
}

// now returns the time in milliseconds since 1970.
func (e *Env) now() int64 {
	if e.Partition == nil {
		return time.Now().UnixMilli()
	}
	return e.Partition.Now()
}

// Fork returns a session of another partition for the connection of s. Assume must be called
// before each use.
func (s *Session) Fork(env *Env) *Session {
	f := NewSession(env, s.ID, s.Addr, s.Local)
	f.about, f.Since = s.about, s.Since
	return f
}

// Assume has a session act for a user, nil if there is none yet, and write in a version of the
// protocol.
func (s *Session) Assume(u *User, version int) {
	s.user = u
	if s.w.Version() != version {
		s.w.SetVersion(version)
	}
}

// Represent has a session, and those that were forked from it, tell a user and the name of a
// client of another node.
func (s *Session) Represent(u *User, name string) {
	s.setUser(u)
	s.about.mu.Lock()
	defer s.about.mu.Unlock()
	s.about.name = name
}

// User returns the user of the session, nil before AUTH.
func (s *Session) User() *User { return s.user }

// Name returns the name of the connection.
func (s *Session) Name() string {
	s.about.mu.Lock()
	defer s.about.mu.Unlock()
	return s.about.name
}

// Mute reports whether the reply to the next command is not sent, for a command that another
// session runs.
func (s *Session) Mute() bool {
	if s.silent == 0 {
		return false
	}
	s.silent = max(s.silent-1, -1)
	return true
}

// Queueing reports whether a transaction is being collected.
func (s *Session) Queueing() bool { return s.multi != nil }

// Queued hands each command of the transaction that is being collected to do. It reports
// whether that can be run.
func (s *Session) Queued(do func(cmd *Command, args [][]byte)) bool {
	if s.multi == nil || s.multi.spoiled {
		return false
	}
	for _, c := range s.multi.calls {
		do(c.cmd, c.args)
	}
	return true
}

// Run runs a command at once, without a partition: one that changes no sets, or is not in order.
func (s *Session) Run(cmd *Command, args [][]byte) error {
	if cmd == nil && isBrowser(args[0]) {
		return ErrHangUp
	}
	s.run(cmd, args, nil)
	return nil
}

// EndMulti forgets a transaction that another session runs.
func (s *Session) EndMulti() { s.multi = nil }

// Discard forgets a transaction, watched keys, and commands and replies that wait.
func (s *Session) Discard() {
	s.multi, s.watched = nil, nil
	clear(s.unit.calls)
	s.unit.calls = s.unit.calls[:0]
	s.inquiry.entry, s.inquiry.keys, s.inquiry.offsets = nil, s.inquiry.keys[:0], s.inquiry.offsets[:0]
	s.fixes = s.fixes[:0]
	s.w.Truncate(0)
}

// Number returns the number of the command: below that of commands with their subcommands.
func (cmd *Command) Number() int { return cmd.number }

// Commands returns all commands and subcommands by their numbers. The caller does not change
// them.
func (t *Table) Commands() []*Command { return t.counted }
