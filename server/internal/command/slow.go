package command

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/setting"
)

// A SlowLog keeps the last commands that took long.
type SlowLog struct {
	settings *setting.Settings
	limit    atomic.Int64 // microseconds

	mu      sync.Mutex
	entries []slowEntry // the newest last
	next    int64
}

type slowEntry struct {
	id   int64
	at   time.Time
	took time.Duration
	args [][]byte
	addr string
	name string
	user string
}

// NewSlowLog returns an empty log.
func NewSlowLog(s *setting.Settings) *SlowLog {
	l := &SlowLog{settings: s}
	l.Configure()
	return l
}

// Configure takes over what the settings say.
func (l *SlowLog) Configure() { l.limit.Store(int64(l.settings.Number("slowlog-log-slower-than"))) }

// exactBelow is the limit, in microseconds, below which every command is timed by itself.
const exactBelow = 1000

// fastGroup is how many fast commands of a pipeline are timed together: to read the clock
// takes a tenth of the time of a command.
const fastGroup = 16

// group returns how many fast commands are timed together.
func (l *SlowLog) group() int {
	switch limit := l.limit.Load(); {
	case limit < 0:
		return maxUnit + 1
	case limit < exactBelow:
		return 1
	}
	return fastGroup
}

// A timer is what a session knows about the time that commands take.
type timer struct {
	began time.Duration // since the connection was made
	ran   int           // commands since then
	last  call          // of them
	group int
}

// resetTimer has the time of the next command begin now.
func (s *Session) resetTimer() { s.timer.began, s.timer.ran = time.Since(s.Since), 0 }

// observe keeps the commands that ran since the timer began, if they took long.
func (s *Session) observe() {
	if s.timer.ran == 0 {
		return
	}
	limit := s.env.Slow.limit.Load()
	if limit < 0 {
		s.timer.ran = 0
		return
	}
	now := time.Since(s.Since)
	if took := now - s.timer.began; took.Microseconds() >= limit {
		s.env.Slow.add(s, took)
	}
	s.timer.began, s.timer.ran = now, 0
}

const (
	slowArgs  = 32 // arguments that are kept
	slowBytes = 128
)

// add keeps the last command that ran.
func (l *SlowLog) add(s *Session, took time.Duration) {
	e := slowEntry{at: time.Now(), took: took, addr: s.Addr, args: s.timer.last.shown(slowArgs, slowBytes)}
	if n := s.timer.ran - 1; n > 0 {
		e.args = append(e.args, fmt.Appendf(nil, "... (and %d fast commands before it)", n))
	}
	s.about.mu.Lock()
	e.name, e.user = s.about.name, s.about.user
	s.about.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.next
	l.next++
	l.entries = append(l.entries, e)
	if most := int(l.settings.Number("slowlog-max-len")); len(l.entries) > most {
		l.entries = append([]slowEntry(nil), l.entries[len(l.entries)-most:]...)
	}
}

// shown returns a copy of the words of a command for people: not too many, and no tokens.
func (c call) shown(maxArgs, maxBytes int) (out [][]byte) {
	args := c.args
	if c.cmd != nil && c.cmd.Flags&Secret != 0 && len(args) > 1 {
		args = [][]byte{args[0], []byte("(redacted)")}
	}
	for i, a := range args {
		if i == maxArgs-1 && len(args) > maxArgs {
			return append(out, fmt.Appendf(nil, "... (%d more arguments)", len(args)-i))
		}
		if len(a) > maxBytes {
			a = fmt.Appendf(bytes.Clone(a[:maxBytes]), "... (%d more bytes)", len(a)-maxBytes)
		}
		out = append(out, bytes.Clone(a))
	}
	return out
}

// A SlowCommand is a command that took long.
type SlowCommand struct {
	At   time.Time
	Took time.Duration
	Args [][]byte // not all of them if there are many
	Addr string
}

// Last returns the last n commands that took long, the newest first.
func (l *SlowLog) Last(n int) (out []SlowCommand) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.entries) - 1; i >= 0 && len(out) < n; i-- {
		e := &l.entries[i]
		out = append(out, SlowCommand{e.at, e.took, e.args, e.addr})
	}
	return out
}

// Stats counts commands.
type Stats struct {
	Commands    atomic.Int64
	Connections atomic.Int64 // that were accepted
	Rejected    atomic.Int64
	table       *Table
	perCommand  []atomic.Int64

	mu        sync.Mutex // of what follows: the rate of INFO
	sampled   time.Time
	before    int64
	perSecond int64
}

// NewStats returns zeros.
func NewStats(t *Table) *Stats {
	return &Stats{table: t, sampled: time.Now(), perCommand: make([]atomic.Int64, len(t.counted))}
}

// Each hands every command that ran, and how often, to do.
func (s *Stats) Each(do func(name string, n int64)) {
	for i, cmd := range s.table.counted {
		if n := s.perCommand[i].Load(); n > 0 {
			do(cmd.Name, n)
		}
	}
}

// counts are the commands of a session that are not in the Stats yet.
type counts struct {
	all   int64
	each  []int32 // by number of the command
	dirty []int   // numbers that are not 0 in each
}

func (c *counts) add(cmd *Command) {
	c.all++
	if cmd == nil {
		return
	}
	if c.each[cmd.number] == 0 {
		c.dirty = append(c.dirty, cmd.number)
	}
	c.each[cmd.number]++
}

func (c *counts) flush(s *Stats) {
	s.Commands.Add(c.all)
	c.all = 0
	for _, i := range c.dirty {
		s.perCommand[i].Add(int64(c.each[i]))
		c.each[i] = 0
	}
	c.dirty = c.dirty[:0]
}

func slowLogGet(c *Call) {
	l := c.env.Slow
	n := 10
	if len(c.args) > 2 {
		if _, err := fmt.Sscan(string(c.args[2]), &n); err != nil || n < -1 {
			c.w.Err("ERR count should be greater than or equal to -1")
			return
		}
	}
	found := l.seenBy(c.Session)
	if n < 0 || n > len(found) {
		n = len(found)
	}
	c.w.Array(n)
	for i := range n {
		e := found[len(found)-1-i]
		c.w.Array(6)
		c.w.Int(e.id)
		c.w.Int(e.at.Unix())
		c.w.Int(e.took.Microseconds())
		c.w.Array(len(e.args))
		for _, a := range e.args {
			c.w.Bulk(a)
		}
		c.w.Text(e.addr)
		c.w.Text(e.name)
	}
}

// seenBy returns the entries that the user of a session may see, the newest last.
func (l *SlowLog) seenBy(s *Session) (out []slowEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		if s.seesUser(l.entries[i].user) {
			out = append(out, l.entries[i])
		}
	}
	return out
}

func slowLogLen(c *Call) { c.w.Int(int64(len(c.env.Slow.seenBy(c.Session)))) }

func slowLogReset(c *Call) {
	l := c.env.Slow
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e slowEntry) bool { return c.seesUser(e.user) })
	c.w.OK()
}
