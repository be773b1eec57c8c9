package command

import (
	"bytes"
	"fmt"
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
}

// NewSlowLog returns an empty log.
func NewSlowLog(s *setting.Settings) *SlowLog {
	l := &SlowLog{settings: s}
	l.Configure()
	return l
}

// Configure takes over what the settings say.
func (l *SlowLog) Configure() { l.limit.Store(int64(l.settings.Number("slowlog-log-slower-than"))) }

const (
	slowArgs  = 32 // arguments that are kept
	slowBytes = 128
)

// observe keeps a command that took long. Commands that are fast are not looked at: the
// time of the next one that is not begins with them.
func (l *SlowLog) observe(s *Session, args [][]byte) {
	now := time.Now()
	took := now.Sub(s.clock)
	s.clock = now
	if limit := l.limit.Load(); limit < 0 || took.Microseconds() < limit {
		return
	}
	e := slowEntry{at: time.Now(), took: took, addr: s.Addr}
	for i, a := range args {
		if i == slowArgs-1 && len(args) > slowArgs {
			e.args = append(e.args, fmt.Appendf(nil, "... (%d more arguments)", len(args)-i))
			break
		}
		if len(a) > slowBytes {
			a = fmt.Appendf(bytes.Clone(a[:slowBytes]), "... (%d more bytes)", len(a)-slowBytes)
		}
		e.args = append(e.args, bytes.Clone(a))
	}
	s.about.mu.Lock()
	e.name = s.about.name
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
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 0 || n > len(l.entries) {
		n = len(l.entries)
	}
	c.w.Array(n)
	for i := range n {
		e := l.entries[len(l.entries)-1-i]
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

func slowLogLen(c *Call) {
	c.env.Slow.mu.Lock()
	defer c.env.Slow.mu.Unlock()
	c.w.Int(int64(len(c.env.Slow.entries)))
}

func slowLogReset(c *Call) {
	c.env.Slow.mu.Lock()
	defer c.env.Slow.mu.Unlock()
	c.env.Slow.entries = nil
	c.w.OK()
}
