package command

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/setting"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A Host is what all partitions of a server share.
type Host struct {
	Table     *Table
	Settings  *setting.Settings
	Users     *Users // nil if no login is needed
	Clients   Clients
	Slow      *SlowLog
	Monitor   Monitor
	Stats     *Stats
	MaxMemory func() int64
	Configure func() // is called when settings have changed; it may be nil
	Shutdown  func()
	Cluster   *Cluster // nil on a server that is alone

	held atomic.Int64 // bytes of dumps that sessions read

	Started time.Time
	RunID   string
	Version string // of everbloom
	Port    int
}

// Env is what all sessions of a partition share.
type Env struct {
	*Host
	Store     *store.Store
	Partition *partition.Partition

	Save   func() error // writes images
	Images func() ImageState

	// What follows belongs to the partition.

	arrivals []*arrival
	arriving atomic.Int64 // bytes of arrivals
	choices  map[everbloom.Needs]frame.Kind
}

// An ImageState is how the writing of images goes.
type ImageState struct {
	Last            time.Time // when it succeeded
	Running, Failed bool
}

// Clients are the connections of a server.
type Clients interface {
	Sessions() []*Session
	Kill(id int64) bool
}

// A Session is what a connection remembers. One goroutine at a time uses it: that of the
// connection, or while that waits, that of the partition.
type Session struct {
	env   *Env
	w     *resp.Writer
	ID    int64
	Addr  string
	Local string
	Since time.Time

	about *sessionInfo // of the connection

	state
	executing bool       // a transaction
	part      store.Part // that the command which runs is about
	dump      *heldDump

	finder      store.Finder
	inquiry     inquiry
	keys        []filter.Key
	found       []bool
	unit        unit
	fixes       []fix // of replies of the unit, to be made when it is answered
	timer       timer
	watcher     watcher
	now         int64 // when bytes arrived, milliseconds since 1970
	counts      counts
	running     *Command // that about tells
	lastName    string   // of the last command that was looked up, as it was written
	lastCommand *Command
	call        Call // that runs
	inner       Call // that runs inside of a transaction
}

// A state is what commands change in a session. A unit that is decided anew begins with
// the one that it began with.
type state struct {
	user    *User // nil before AUTH
	multi   *multi
	watched []watch
	closing bool
	silent  int // replies that are not sent; -1 means all
}

// A fix is what the reply at an offset must be.
type fix struct {
	offset  int
	form    partition.Form
	outcome store.Outcome
}

// NewSession returns the session of a new connection.
func NewSession(env *Env, id int64, addr, local string) *Session {
	s := &Session{env: env, finder: store.NewFinder(env.Store), w: new(resp.Writer), ID: id, Addr: addr, Local: local, Since: time.Now()}
	s.about = new(sessionInfo)
	s.unit.done = make(chan error, 1)
	s.unit.session = s
	s.counts.each = make([]int32, len(env.Table.counted))
	if env.Users == nil {
		s.user = noLogin
	}
	return s
}

// Writer returns the replies that were not sent yet.
func (s *Session) Writer() *resp.Writer { return s.w }

// Closing reports whether the connection is to be closed when all replies are sent.
func (s *Session) Closing() bool { return s.closing }

// Authenticated reports whether the client has said which user it is.
func (s *Session) Authenticated() bool { return s.user != nil }

// ErrHangUp is returned for clients that are to be closed without a reply.
var ErrHangUp = errors.New("command: not a client of this server")

// Take runs a command, or has it wait for Flush. Arguments must stay as they are until
// then.
func (s *Session) Take(args [][]byte) error { return s.TakeAs(s.Lookup(args), args) }

// TakeAs is Take for a command that was looked up, nil if there is none.
func (s *Session) TakeAs(cmd *Command, args [][]byte) error {
	return s.TakePart(store.Part{}, cmd, args)
}

// TakePart is TakeAs for a command about a part of a set: it is answered with [Misrouted]
// unless the keys are that part. The zero Part means keys that are no parts.
func (s *Session) TakePart(part store.Part, cmd *Command, args [][]byte) error {
	if cmd == nil && isBrowser(args[0]) {
		return ErrHangUp
	}
	alone := cmd != nil && cmd.Flags&Alone != 0 && s.multi == nil
	if len(s.unit.calls) > 0 && alone {
		if err := s.Flush(); err != nil {
			return err
		}
	}
	if len(s.unit.calls) == 0 && (alone || !s.needsTx(cmd)) {
		s.part = part
		s.run(cmd, args, nil)
		return nil
	}
	s.unit.calls = append(s.unit.calls, call{cmd, args, part})
	if len(s.unit.calls) >= maxUnit {
		return s.Flush()
	}
	return nil
}

// Lookup returns the command that words begin with, nil if there is none. Pipelines repeat commands, so the last
// one is looked at first.
func (s *Session) Lookup(args [][]byte) *Command {
	if string(args[0]) == s.lastName {
		return s.lastCommand
	}
	cmd := s.env.Table.lookup(args)
	if cmd != nil && cmd.Subs == nil && len(args[0]) == len(cmd.Name) {
		s.lastName, s.lastCommand = string(args[0]), cmd
	}
	return cmd
}

// maxUnit is how many commands wait at most.
const maxUnit = 10_000

// isBrowser reports whether a web page makes a browser talk to the server.
func isBrowser(name []byte) bool {
	return len(name) == 4 && strings.EqualFold(string(name), "post") || len(name) == 5 && strings.EqualFold(string(name), "host:")
}

// needsTx reports whether a command must be decided by the partition.
func (s *Session) needsTx(cmd *Command) bool {
	if cmd == nil || s.multi != nil && cmd.Name != "exec" {
		return false
	}
	return cmd.Flags&Write != 0
}

// run runs one command. cmd is nil if there is none of that name.
func (s *Session) run(cmd *Command, args [][]byte, tx *partition.Tx) {
	if s.closing {
		return
	}
	before := s.w.Len()
	if s.running != cmd {
		s.running = cmd
		s.about.command.Store(cmd)
	}
	if problem := s.Check(cmd, args); problem != "" {
		s.Refuse(problem)
	} else if s.multi != nil && cmd.Flags&Immediate == 0 {
		s.multi.queue(s.w, cmd, args)
	} else {
		s.dispatch(cmd, args, tx)
	}
	if s.silent != 0 {
		s.withdraw(before, tx)
		s.silent = max(s.silent-1, -1)
	}
	s.counts.add(cmd)
	s.timer.last = call{cmd: cmd, args: args}
	if s.timer.ran++; s.timer.ran >= s.timer.group || cmd == nil || cmd.Flags&Fast == 0 {
		s.observe()
	}
	if s.watcher.turn != 0 {
		if s.watcher.skip--; s.watcher.skip < 0 {
			s.env.Monitor.take(s, cmd, args)
		}
	}
}

// withdraw takes back the replies from an offset on.
func (s *Session) withdraw(offset int, tx *partition.Tx) {
	s.w.Truncate(offset)
	s.fixes = slices.DeleteFunc(s.fixes, func(f fix) bool { return f.offset >= offset })
	if tx != nil {
		tx.Silence(s, offset)
	}
}

// Begin is called when bytes have arrived: what follows takes time from now on.
func (s *Session) Begin() {
	s.timer.group = s.env.Slow.group()
	s.watcher.follow(&s.env.Monitor)
	s.resetTimer()
	s.now = s.env.now()
	s.about.active.Store(s.now)
}

// End is called when what has arrived is handled.
func (s *Session) End() {
	s.counts.flush(s.env.Stats)
	s.timer.last = call{}
	s.finder.Forget()
}

// Close lets go what the session holds, when its connection has ended.
func (s *Session) Close() { s.hold(nil) }

// Refuse answers a command that cannot run. It spoils a transaction.
func (s *Session) Refuse(problem string) {
	if s.multi != nil {
		s.multi.spoiled = true
	}
	s.w.Err(problem)
}

// dispatch runs a command that was found in order.
func (s *Session) dispatch(cmd *Command, args [][]byte, tx *partition.Tx) {
	c := &s.call
	if s.executing {
		c = &s.inner
	}
	*c = Call{Session: s, cmd: cmd, args: args, tx: tx}
	if problem := c.misrouted(); problem != "" {
		s.w.Err(problem)
		return
	}
	if cmd.Flags&Write != 0 && tx != nil && cmd.Name != "exec" {
		if problem := c.refused(); problem != "" {
			s.w.Err(problem)
			return
		}
	}
	cmd.Run(c)
}
