package router

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom/server/internal/resp"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// needs calls do with the words of EB.CREATE behind the key: each option by itself, or with its
// value. It reports false if a value is missing.
func needs(args [][]byte, do func(name string, option [][]byte)) bool {
	for rest := args[2:]; len(rest) > 0; {
		n := 2
		name := strings.ToUpper(string(rest[0]))
		switch name {
		case "DELETE", "KNOWNDELETES", "GROW", "MERGE", "NX":
			n = 1
		}
		if n > len(rest) {
			return false
		}
		do(name, rest[:n])
		rest = rest[n:]
	}
	return true
}

// shardsWord returns the number behind SHARDS. It reports false if the set is not to be spread,
// or the partition says what is wrong.
func shardsWord(args [][]byte) (n int64, ok bool) {
	whole := needs(args, func(name string, option [][]byte) {
		if name == "SHARDS" {
			n, ok = resp.ParseInt(option[1])
		}
	})
	return n, whole && ok && n > 1 && n <= store.MaxParts
}

// create makes a set of n parts. The first part comes first: it decides which of two commands
// that create the same set does.
func (s *Session) create(c call, n int64) ([]byte, error) {
	if n > int64(s.node.partitions) {
		return errorReply(fmt.Sprintf("ERR SHARDS: at most %d, the number of partitions", s.node.partitions)), nil
	}
	t := &task{call: c, misroute: misroute{store.Part{Count: uint16(n)}, 1}}
	reply, err := s.onFirst(t)
	t.set.Set = uint64(number(reply))
	if err != nil || t.set.Set == 0 { // an error, or NX and there is one
		return reply, err
	}
	at, problem, err := s.expiryOf(t)
	if problem == nil && err == nil {
		problem, err = s.sendOthers(t, call{cmd: c.cmd, args: partWords(c.args, at)})
	}
	if err != nil {
		return nil, err
	}
	if problem != nil { // parts that cannot be reached were not made
		if _, err = s.sendOthers(t, t.about(s.node.commands.del)); err == nil {
			_, err = s.ask1(s.first(t, s.node.commands.del))
		}
		return problem, err
	}
	s.node.spread.learn(t.name(), t.set)
	// Parts that were made after the set was deleted are dropped.
	if problem, err := s.alignParts(t, max(at, never)); problem != nil || err != nil {
		return problem, err
	}
	return created(c.args, s.w.Version()), nil
}

// created returns the reply to EB.CREATE.
func created(args [][]byte, version int) []byte {
	var w resp.Writer
	w.SetVersion(version)
	nx := false
	needs(args, func(name string, _ [][]byte) { nx = nx || name == "NX" })
	if nx {
		w.Bool(true)
	} else {
		w.OK()
	}
	return w.Bytes()
}

// partWords returns the words that create a part of a set which ends at a time.
func partWords(args [][]byte, at int64) [][]byte {
	words := append([][]byte(nil), args[:2]...)
	needs(args, func(name string, option [][]byte) {
		switch name {
		case "NX", "EX", "PX", "EXAT", "PXAT":
		default:
			words = append(words, option...)
		}
	})
	if at > 0 {
		words = append(words, []byte("PXAT"), strconv.AppendInt(nil, at, 10))
	}
	return words
}
