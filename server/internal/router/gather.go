package router

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// strayed reports whether a reply of the batch may be about a set that is spread.
func (s *Session) strayed() bool {
	for _, l := range s.used {
		if bytes.Contains(l.reply, misroutedHead) {
			return true
		}
	}
	return false
}

// gatherSpread is gather for a batch with commands about sets that are spread. Those that went
// to a wrong place are carried out now, one after the other.
func (s *Session) gatherSpread() error {
	order := slices.Clone(s.order)
	whole, err := s.takeReplies()
	s.forget()
	if err != nil {
		return err
	}
	for i, e := range order {
		reply, err := s.finishSpread(e.task, whole[i])
		if err != nil {
			return err
		}
		if !e.muted {
			s.w.Raw(reply)
		}
	}
	return nil
}

// takeReplies gives the portions of tasks their replies, and returns the other commands of the
// batch, each at its place, with theirs.
func (s *Session) takeReplies() (whole []portion, err error) {
	whole = make([]portion, len(s.order))
	next := make(map[*lane]int)
	for i, e := range s.order {
		if e.task == nil {
			err = whole[i].takeReply(e.lane, next)
		} else {
			for j := range e.task.portions {
				p := &e.task.portions[j]
				err = errors.Join(err, p.takeReply(s.lane(p.partition), next))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// takeReply takes the next command of a lane and its reply. next has the position of each lane.
func (p *portion) takeReply(l *lane, next map[*lane]int) (err error) {
	if p.reply, l.reply, err = cut(l.reply); err != nil {
		return err
	}
	p.reply, p.call = bytes.Clone(p.reply), l.calls[next[l]]
	next[l]++
	return nil
}

// finishSpread returns the reply to a command of a batch: a task, or if that is nil a command
// with one reply.
func (s *Session) finishSpread(t *task, p portion) ([]byte, error) {
	if t != nil {
		return s.runTask(t)
	}
	m, ok, err := p.strays(p.reply)
	if err != nil || !ok {
		return p.reply, err
	}
	s.node.spread.learn(p.args[m.at], m.set)
	return s.onSpread(p.call, m)
}

// join puts the replies of the parts together in the order of the items.
func join(t *task) ([]byte, error) {
	for _, p := range t.portions {
		if _, ok := misrouted(p.reply); ok {
			return p.reply, nil
		}
	}
	for _, p := range t.portions {
		if failed(p.reply) || t.parts == nil {
			return p.reply, nil
		}
	}
	type answers struct{ last, rest []byte }
	of := make(map[uint16]*answers, len(t.portions))
	for _, p := range t.portions {
		_, inner := elements(p.reply)
		of[p.part.Index] = &answers{rest: inner}
	}
	out := fmt.Appendf(nil, "*%d\r\n", len(t.parts))
	for _, index := range t.parts {
		a := of[index]
		if len(a.rest) > 0 { // a part that is full says so once for all items that follow
			var err error
			if a.last, a.rest, err = cut(a.rest); err != nil {
				return nil, err
			}
		}
		out = append(out, a.last...)
	}
	return out, nil
}
