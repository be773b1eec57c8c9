package router

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/store"
)

// A task is a command about a set that is spread.
type task struct {
	call
	misroute
	portions []portion // of a command about items, else nil
	parts    []uint16  // of each item; nil if there is one and the reply is that of its part
}

// A portion is what one partition is asked.
type portion struct {
	call
	partition int
	reply     []byte // nil before it is asked
}

// name returns the name of the set.
func (t *task) name() []byte { return t.args[t.at] }

// taskOf returns the task of a command.
func (s *Session) taskOf(c call, m misroute) *task {
	c.part = store.Part{}
	t := &task{call: c, misroute: m}
	if r := &s.node.routes[c.cmd.Number()]; r.items != nil {
		s.divide(t, r.items(c.args))
	}
	return t
}

// divide makes the portions of a command whose items begin at a position.
func (s *Session) divide(t *task, first int) {
	items := t.args[min(first, len(t.args)):]
	switch {
	case len(items) == 0: // the first part says what is wrong
		t.portions = []portion{s.portion(t, 0, t.args)}
		return
	case t.cmd.Arity > 0:
		t.portions = []portion{s.portion(t, store.PartOf(items[0], t.set.Count), t.args)}
		return
	}
	words := make(map[uint16][][]byte)
	t.parts = make([]uint16, len(items))
	for i, item := range items {
		p := store.PartOf(item, t.set.Count)
		if words[p] == nil {
			words[p] = slices.Clone(t.args[:first])
		}
		words[p], t.parts[i] = append(words[p], item), p
	}
	for p := range t.set.Count {
		if words[p] != nil {
			t.portions = append(t.portions, s.portion(t, p, words[p]))
		}
	}
}

// portion returns what a part of the set is asked.
func (s *Session) portion(t *task, index uint16, words [][]byte) portion {
	p := t.set
	p.Index = index
	return portion{call: call{t.cmd, words, p}, partition: s.node.partitionOfPart(t.name(), p)}
}

// afterItems returns the position behind the word ITEMS of BF.INSERT and CF.INSERT.
func afterItems(args [][]byte) int {
	for i := 2; i < len(args); i++ {
		switch strings.ToUpper(string(args[i])) {
		case "ITEMS":
			return i + 1
		case "NOCREATE", "NONSCALING":
		default:
			i++ // an option and its value
		}
	}
	return len(args)
}

// takeSpread takes a command about a set that is known to be spread, or one that makes such a
// set. It reports false if the command is neither.
func (s *Session) takeSpread(r *route, c call) (taken bool, err error) {
	m, known := s.view.known(c)
	if c.cmd == s.node.commands.create.cmd {
		n, ok := shardsWord(c.args)
		switch {
		case ok:
			return true, s.barrier(func() error { return s.reply(s.create(c, n)) })
		case known: // commands before it may have to be sent again
			err = s.Flush()
		}
		return false, err
	}
	if !known {
		return false, nil
	}
	if r.items == nil || s.node.Redirect {
		return true, s.barrier(func() error { return s.reply(s.onSpread(c, m)) })
	}
	t := s.taskOf(c, m)
	muted := s.home.Mute()
	s.muted, s.spreads = s.muted || muted, true
	for _, p := range t.portions {
		s.load(s.lane(p.partition), p.call)
	}
	s.order = append(s.order, entry{muted: muted, task: t})
	return true, nil
}

// reply answers with a reply that is made.
func (s *Session) reply(reply []byte, err error) error {
	if err != nil {
		return err
	}
	return s.answer(func() { s.w.Raw(reply) })
}

// send has the portions without a reply carried out at the same time.
func (s *Session) send(portions []portion) error {
	defer s.forget()
	for _, p := range portions {
		if p.reply == nil {
			s.charge(s.lane(p.partition), p.call)
		}
	}
	if err := s.carryOut(); err != nil {
		return err
	}
	for i := range portions {
		p := &portions[i]
		if p.reply != nil {
			continue
		}
		var reply []byte
		var err error
		l := s.lane(p.partition)
		if reply, l.reply, err = cut(l.reply); err != nil {
			return err
		}
		p.reply = bytes.Clone(reply)
	}
	return nil
}

// ask1 has one partition carry out a command.
func (s *Session) ask1(p portion) ([]byte, error) {
	list := []portion{p}
	err := s.send(list)
	return list[0].reply, err
}

// askHome has the partition of a name carry out a command about a whole set.
func (s *Session) askHome(name []byte, c call) ([]byte, error) {
	c.part = store.Part{}
	return s.ask1(portion{call: c, partition: s.node.of(name)})
}

// missingTime is how long commands wait for a part that is not there while the set is created
// or deleted.
const missingTime = time.Second

// onSpread carries out a command about a set that is spread.
func (s *Session) onSpread(c call, m misroute) ([]byte, error) {
	if s.node.routes[c.cmd.Number()].split && len(c.args) > 2 {
		return s.eachKey(c)
	}
	return s.runTask(s.taskOf(c, m))
}

// runTask carries out a task, however often the set becomes another one meanwhile. Pieces that
// were carried out are not sent again as long as it is the same.
func (s *Session) runTask(t *task) ([]byte, error) {
	var missing time.Time
	for {
		reply, err := s.attemptTask(t)
		if _, again := misrouted(reply); err != nil || !again {
			return reply, err
		}
		s.node.spread.forget(t.name())
		if reply, err = s.askHome(t.name(), t.call); err != nil {
			return nil, err
		}
		m, again, err := t.strays(reply)
		if err != nil || !again {
			return reply, err
		}
		s.node.spread.learn(t.args[m.at], m.set)
		if m != t.misroute {
			t, missing = s.taskOf(t.call, m), time.Time{}
			continue
		}
		if missing.IsZero() {
			missing = time.Now()
		}
		if time.Since(missing) > min(missingTime, s.node.Patience) {
			return errorReply(fmt.Sprintf("ERR a part of the set is missing, of %d: it is being created or deleted; if that broke off, delete the set and create it again", t.set.Count)), nil
		}
		time.Sleep(firstPause)
	}
}

// attemptTask carries out a task that may be about another set than there is: then the reply is
// misrouted.
func (s *Session) attemptTask(t *task) ([]byte, error) {
	r := &s.node.routes[t.cmd.Number()]
	switch {
	case t.portions != nil:
		for i, p := range t.portions {
			if _, ok := misrouted(p.reply); ok {
				t.portions[i].reply = nil
			}
		}
		if err := s.send(t.portions); err != nil {
			return nil, err
		}
		return join(t)
	case r.onParts != nil:
		return r.onParts(s, t)
	}
	return errorReply(notSpread(t)), nil
}

// notSpread answers commands that sets which are spread do not know.
func notSpread(t *task) string {
	return fmt.Sprintf("ERR %s is not possible: the set is spread over %d partitions", t.cmd.Name, t.set.Count)
}

func errorReply(text string) []byte { return []byte("-" + text + "\r\n") }

// eachKey carries out a command about several keys for one after the other, and sums up.
func (s *Session) eachKey(c call) ([]byte, error) {
	total := int64(0)
	for _, name := range c.args[1:] {
		one := call{cmd: c.cmd, args: [][]byte{c.args[0], name}}
		reply, err := s.askHome(name, one)
		if err != nil {
			return nil, err
		}
		if m, ok, bad := one.strays(reply); bad != nil {
			return nil, bad
		} else if ok {
			reply, err = s.runTask(s.taskOf(one, m))
		}
		if err != nil || failed(reply) {
			return reply, err
		}
		total += number(reply)
	}
	return fmt.Appendf(nil, ":%d\r\n", total), nil
}
