package router

import (
	"time"

	"github.com/everbloom-go/everbloom/server/internal/command"
	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// wrote remembers that the connection has written to a partition, no later than in a record.
func (s *Session) wrote(partition int, record uint64) {
	if s.records == nil {
		s.records = make([]uint64, s.node.partitions)
	}
	s.records[partition] = max(s.records[partition], record)
}

const waitStep = 5 * time.Millisecond

// wait waits until so many other nodes have applied what the connection has written, or the
// time is over, and answers how many have. 0 milliseconds mean any time.
func (s *Session) wait(cmd *command.Command, args [][]byte) error {
	if !s.allowed(cmd, args) {
		return nil
	}
	nodes, ok := resp.ParseInt(args[1])
	if !ok {
		return s.answer(func() { s.w.Err("ERR value is not an integer or out of range") })
	}
	milliseconds, ok := resp.ParseInt(args[2])
	if !ok || milliseconds < 0 {
		return s.answer(func() { s.w.Err("ERR timeout is negative") })
	}
	var late <-chan time.Time
	if milliseconds > 0 {
		late = time.After(time.Duration(min(milliseconds, 1<<40)) * time.Millisecond)
	}
	for {
		n := s.applied()
		if int64(n) >= nodes {
			return s.answer(func() { s.w.Int(int64(n)) })
		}
		select {
		case <-late:
			return s.answer(func() { s.w.Int(int64(n)) })
		case <-s.node.ended.Done():
			return errEnded
		case <-time.After(waitStep):
		}
	}
}

// applied returns how many other nodes have applied everything that the connection has written.
func (s *Session) applied() int {
	n := max(len(s.node.shards.Members())-1, 0)
	for i, record := range s.records {
		if record > 0 {
			n = min(n, s.node.shards.Applied(s.node.ended, i, record))
		}
	}
	return n
}
