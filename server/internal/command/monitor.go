package command

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A Monitor has a sample of the commands that run, while it is on. Sessions skip commands, as
// many as suit the rate of the last second, so that it costs them next to nothing.
type Monitor struct {
	turn atomic.Uint64 // changes with each sample; 0 while the monitor is off

	mu      sync.Mutex
	gap     float64 // commands from one that is taken to the next, on average
	taken   int     // since the last sample
	entries []Ran   // some of them
	turns   uint64
	before  int64 // commands when the last sample was made
}

// A Ran is a command that ran.
type Ran struct {
	At         time.Time
	Args       [][]byte // not all of them if there are many
	Addr, User string
}

// The sizes of a sample and of its commands.
const (
	sampleSize  = 20
	sampleArgs  = 12
	sampleBytes = 64

	// spareSamples is how many times as many commands are taken, since the next second may
	// have fewer than the last.
	spareSamples = 3

	// manyTaken is how many commands are taken until others are skipped more often: the rate
	// has risen since the last second.
	manyTaken = 256
)

// A watcher is what a session knows about the monitor.
type watcher struct {
	turn uint64 // of the monitor, 0 if it is off
	skip int64  // commands that are not taken
}

// follow has a session take part in the sample that is made now.
func (w *watcher) follow(m *Monitor) {
	turn := m.turn.Load()
	if turn == w.turn {
		return
	}
	if w.turn = turn; turn != 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		w.skip = m.draw()
	}
}

// draw returns how many commands are skipped. The caller holds mu.
func (m *Monitor) draw() int64 {
	if m.gap <= 1 {
		return 0
	}
	return int64(min(rand.ExpFloat64()*m.gap, math.MaxInt32))
}

// take takes a command into the sample, or another one's place in it.
func (m *Monitor) take(s *Session, cmd *Command, args [][]byte) {
	e := Ran{At: time.Now(), Args: call{cmd: cmd, args: args}.shown(sampleArgs, sampleBytes), Addr: s.Addr}
	if s.user != nil {
		e.User = s.user.Name
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.watcher.skip = m.draw()
	if m.taken++; m.taken%manyTaken == 0 {
		m.gap = 2 * max(m.gap, 1)
	}
	if len(m.entries) < sampleSize {
		m.entries = append(m.entries, e)
	} else if i := rand.IntN(m.taken); i < sampleSize {
		m.entries[i] = e
	}
}

// Sample returns a sample of the commands that ran since the last call, and how many these
// were: the server has run so many in all. The monitor is on until the next call, or off.
func (m *Monitor) Sample(on bool, commands int64) (sample []Ran, of int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sample, of = m.entries, commands-m.before
	m.entries, m.taken, m.before = nil, 0, commands
	m.gap = float64(of) / (spareSamples * sampleSize)
	m.turns++
	if on {
		m.turn.Store(m.turns)
	} else {
		m.turn.Store(0)
	}
	return sample, of
}
