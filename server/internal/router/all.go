package router

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// charge gives a lane a command whose reply the router takes itself.
func (s *Session) charge(l *lane, c call) {
	if len(l.calls) == 0 {
		s.used = append(s.used, l)
	}
	l.redirects = false
	l.take(c)
}

// ask has the lanes that were charged carry out their work, and hands the replies of each, and
// the number of its partition, to do. The first error among them is returned as problem: then
// not all were handed over.
func (s *Session) ask(do func(partition int, replies [][]byte)) (problem []byte, err error) {
	defer s.forget()
	if err := s.carryOut(); err != nil {
		return nil, err
	}
	for _, l := range s.used {
		var replies [][]byte
		for rest := l.reply; len(replies) < len(l.calls); {
			var reply []byte
			if reply, rest, err = cut(rest); err != nil {
				return nil, err
			}
			if failed(reply) && problem == nil {
				problem = append([]byte(nil), reply...)
			}
			replies = append(replies, reply)
		}
		if problem == nil {
			do(l.partition, replies)
		}
	}
	return problem, nil
}

// askAll is ask for commands that all partitions get.
func (s *Session) askAll(do func(partition int, replies [][]byte), calls ...call) (problem []byte, err error) {
	for i := range s.node.partitions {
		for _, c := range calls {
			s.charge(s.lane(i), c)
		}
	}
	return s.ask(do)
}

// finish writes the reply to a command that several partitions took part in.
func (s *Session) finish(problem []byte, err error, write func()) error {
	if err != nil {
		return err
	}
	return s.answer(func() {
		if problem != nil {
			s.w.Raw(problem)
		} else {
			write()
		}
	})
}

// allowed reports whether the client may run a command. Otherwise it is answered.
func (s *Session) allowed(cmd *command.Command, args [][]byte) bool {
	problem := s.home.Check(cmd, args)
	if problem != "" {
		_ = s.answer(func() { s.home.Refuse(problem) }) // which cannot fail
	}
	return problem == ""
}

// split hands each partition its keys, and sums up.
func (s *Session) split(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	parts := make(map[int][][]byte)
	for _, name := range args[1:] {
		i := s.node.of(name)
		if parts[i] == nil {
			parts[i] = append(parts[i], args[0])
		}
		parts[i] = append(parts[i], name)
	}
	var portions []portion
	for i, words := range parts {
		portions = append(portions, portion{call: call{cmd: cmd, args: words}, partition: i})
	}
	return s.reply(s.sumOf(portions))
}

// sumOf returns the sum of what partitions answer about their keys.
func (s *Session) sumOf(portions []portion) (reply []byte, err error) {
	if err := s.send(portions); err != nil {
		return nil, err
	}
	total := int64(0)
	for _, p := range portions {
		if _, ok := misrouted(p.reply); ok {
			if p.reply, err = s.eachKey(p.call); err != nil {
				return nil, err
			}
		}
		if failed(p.reply) && reply == nil {
			reply = p.reply
		}
		total += number(p.reply)
	}
	if reply == nil {
		reply = fmt.Appendf(nil, ":%d\r\n", total)
	}
	return reply, nil
}

// sum answers the sum of numbers.
func (s *Session) sum(ask func(func(int, [][]byte)) ([]byte, error)) error {
	total := int64(0)
	problem, err := ask(func(_ int, replies [][]byte) {
		total += number(replies[0])
	})
	return s.finish(problem, err, func() { s.w.Int(total) })
}

func (s *Session) dbSize(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	return s.sum(func(do func(int, [][]byte)) ([]byte, error) { return s.askAll(do, call{cmd: cmd, args: args}) })
}

// everywhere has all partitions run a command, and answers what the last one does.
func (s *Session) everywhere(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	var last []byte
	problem, err := s.askAll(func(_ int, replies [][]byte) { last = append(last[:0], replies[0]...) }, call{cmd: cmd, args: args})
	return s.finish(problem, err, func() { s.w.Raw(last) })
}

func (s *Session) keys(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	total := 0
	var all []byte
	problem, err := s.askAll(func(_ int, replies [][]byte) {
		n, inner := elements(replies[0])
		total += n
		all = append(all, inner...)
	}, call{cmd: cmd, args: args})
	return s.finish(problem, err, func() {
		s.w.Array(total)
		s.w.Raw(all)
	})
}

// randomKey has each partition name one, and takes those of large partitions more often.
func (s *Session) randomKey(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	seen := int64(0)
	var chosen []byte
	problem, err := s.askAll(func(_ int, replies [][]byte) {
		n := number(replies[0])
		name, ok := text(replies[1])
		if n = max(n, 1); !ok {
			return
		}
		if seen += n; rand.Int64N(seen) < n {
			chosen = append([]byte{}, name...)
		}
	}, s.node.commands.dbSize, call{cmd: cmd, args: args})
	return s.finish(problem, err, func() {
		if chosen == nil {
			s.w.Null()
		} else {
			s.w.Bulk(chosen)
		}
	})
}

// scan scans one partition, or more while nothing is found. The cursor is that of the
// partition, times the number of partitions, and the partition's number.
func (s *Session) scan(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	cursor, ok := resp.ParseInt(args[1])
	if !ok || cursor < 0 {
		return s.answer(func() { s.w.Err("ERR invalid cursor") })
	}
	all := int64(s.node.partitions)
	words := append([][]byte(nil), args...)
	for {
		i, found := cursor%all, 0
		words[1] = strconv.AppendInt(nil, cursor/all, 10)
		s.charge(s.lane(int(i)), call{cmd: cmd, args: words})
		var names []byte
		problem, err := s.ask(func(_ int, replies [][]byte) {
			_, inner := elements(replies[0])
			next, rest, _ := cut(inner)
			at, _ := text(next)
			cursor, _ = resp.ParseInt(at)
			found, _ = elements(rest)
			names = append(names, rest...)
		})
		if cursor != 0 || i+1 < all {
			cursor = cursor*all + i
			if cursor < all {
				cursor++ // this partition has no more
			}
		}
		if problem == nil && err == nil && found == 0 && cursor != 0 {
			continue
		}
		return s.finish(problem, err, func() {
			s.w.Array(2)
			s.w.Text(strconv.FormatInt(cursor, 10))
			s.w.Raw(names)
		})
	}
}
