package command

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// A Monitor has a sample of the commands that run, while it is on. Each command is in the
// sample with the same probability, however many there are.
type Monitor struct {
	on   atomic.Bool
	seen atomic.Int64

	mu      sync.Mutex
	entries []Ran
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
)

// see takes a command into the sample, or does not.
func (m *Monitor) see(s *Session, cmd *Command, args [][]byte) {
	n := m.seen.Add(1)
	if n > sampleSize && rand.Int64N(n) >= sampleSize {
		return
	}
	e := Ran{At: time.Now(), Args: call{cmd, args}.shown(sampleArgs, sampleBytes), Addr: s.Addr}
	if s.user != nil {
		e.User = s.user.Name
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.entries) < sampleSize {
		m.entries = append(m.entries, e)
		return
	}
	m.entries[rand.IntN(sampleSize)] = e
}

// Sample returns a sample of the commands that ran since the last call, and how many these
// were. The monitor is on until the next call, or off.
func (m *Monitor) Sample(on bool) (sample []Ran, of int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sample, of = m.entries, m.seen.Swap(0)
	m.entries = nil
	m.on.Store(on)
	return sample, of
}
