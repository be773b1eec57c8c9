package router

import (
	"bytes"
	"fmt"
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
	type outcome struct {
		portion
		entry
	}
	next := make(map[*lane]int)
	take := func(l *lane, p *portion) (err error) {
		if p.reply, l.reply, err = cut(l.reply); err == nil {
			p.reply, p.call = bytes.Clone(p.reply), l.calls[next[l]]
			next[l]++
		}
		return err
	}
	var list []outcome
	for _, e := range s.order {
		o := outcome{entry: e}
		var err error
		if e.task == nil {
			err = take(e.lane, &o.portion)
		} else {
			for i := range e.task.portions {
				p := &e.task.portions[i]
				if err = take(s.lane(p.partition), p); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
		list = append(list, o)
	}
	s.forget()
	for _, o := range list {
		reply, err := s.finishSpread(o.task, o.portion)
		if err != nil {
			return err
		}
		if !o.muted {
			s.w.Raw(reply)
		}
	}
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
