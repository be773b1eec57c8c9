package command

import (
	"bytes"
	"slices"

	"github.com/everbloom-go/everbloom/server/internal/partition"
	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// Flush waits for the commands and questions that wait. With an error the connection must be
// closed and no reply be sent.
func (s *Session) Flush() error {
	if !s.Start() {
		return nil
	}
	return s.Wait()
}

// Start answers the questions that wait and hands the commands that wait to the partition. It
// reports whether there are some; then Wait must be called before anything else.
func (s *Session) Start() bool {
	s.Answer()
	s.observe()
	u := &s.unit
	if len(u.calls) == 0 {
		return false
	}
	u.next, u.start, u.before, u.version = 0, s.w.Len(), s.state, s.w.Version()
	s.env.Partition.Submit(u)
	return true
}

// Wait waits for the commands that Start handed to the partition. Its error is that of Flush.
func (s *Session) Wait() error {
	u := &s.unit
	err := <-u.done
	clear(u.calls)
	u.calls = u.calls[:0]
	if err == nil {
		s.makeFixes()
	}
	s.fixes = s.fixes[:0]
	return err
}

// makeFixes replaces the replies that were not what became of their keys.
func (s *Session) makeFixes() {
	if len(s.fixes) == 0 {
		return
	}
	slices.SortStableFunc(s.fixes, func(a, b fix) int { return a.offset - b.offset })
	var w resp.Writer
	old, done := s.w.Bytes(), 0
	for _, f := range s.fixes {
		w.SetVersion(2)
		if f.form&formV3 != 0 {
			w.SetVersion(3)
		}
		w.Raw(old[done:f.offset])
		writeOutcome(&w, f.form&formMask, f.outcome)
		done = f.offset + bytes.IndexByte(old[f.offset:], '\n') + 1
	}
	w.Raw(old[done:])
	s.w.Swap(&w)
	if cap(s.fixes) > maxKeptKeys {
		s.fixes = nil
	}
}

// Waiting reports whether commands wait for Flush.
func (s *Session) Waiting() bool { return len(s.unit.calls) > 0 }

// A unit is the commands of a session that the partition decides together.
type unit struct {
	session *Session
	calls   []call
	next    int
	start   int // of its replies
	before  state
	version int
	done    chan error
}

type call struct {
	cmd  *Command
	args [][]byte
	part store.Part
}

// Decide runs the commands.
func (u *unit) Decide(t *partition.Tx) {
	u.session.resetTimer() // commands that wait for others are not slow
	for ; u.next < len(u.calls) && !t.Failed(); u.next++ {
		c := u.calls[u.next]
		u.session.part = c.part
		u.session.run(c.cmd, c.args, t)
	}
	u.session.observe()
}

// Restart makes the session what it was before the unit.
func (u *unit) Restart() {
	u.next = 0
	u.session.state = u.before
	u.session.executing = false
	u.session.withdraw(u.start, nil)
	u.session.w.SetVersion(u.version)
}

// Answer wakes the connection.
func (u *unit) Answer(err error) { u.done <- err }

// foresee has the partition look up items together that are added one after the other.
func (c *Call) foresee(e *store.Entry, items [][]byte) {
	if !c.tx.Foresees(e) {
		c.tx.Foresee(e, items[:min(len(items), partition.MaxForesight)])
	}
}

// foreseeUnit is foresee for the commands of the unit that add one item to the same entry.
func (c *Call) foreseeUnit(e *store.Entry) {
	if c.executing || c.tx.Foresees(e) {
		return
	}
	var items [partition.MaxForesight][]byte
	n := 0
	for _, next := range c.unit.calls[c.unit.next:] {
		if n == len(items) || next.cmd != c.cmd || next.part != c.part || len(next.args) != len(c.args) || !bytes.Equal(next.args[1], c.args[1]) {
			break
		}
		items[n] = next.args[2]
		n++
	}
	c.tx.Foresee(e, items[:n])
}
