package router

import (
	"context"
	"net"
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

const (
	firstStep = 2 * time.Millisecond // between two questions
	maxStep   = 100 * time.Millisecond
	askTime   = time.Second // nodes that have not answered by then do not count
)

// SetConn says which connection the session has: WAIT ends when the client closes it.
func (s *Session) SetConn(c net.Conn) { s.gone = func() bool { return hungUp(c) } }

// wait waits until so many other nodes have applied what the connection has written, or the
// time is over, or the client is gone, and answers how many have. 0 milliseconds mean any time.
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
	ctx, cancel := context.WithCancel(s.node.ended)
	if milliseconds > 0 {
		ctx, cancel = context.WithTimeout(s.node.ended, time.Duration(min(milliseconds, 1<<40))*time.Millisecond)
	}
	defer cancel()
	n := s.await(ctx, nodes)
	if n < nodes && s.node.ended.Err() != nil {
		return errEnded
	}
	return s.answer(func() { s.w.Int(n) })
}

// await returns how many other nodes have applied what was written, when that are enough, or
// ctx has ended, or the client is gone.
func (s *Session) await(ctx context.Context, nodes int64) int64 {
	n := s.applied(ctx)
	for step := firstStep; n < nodes && ctx.Err() == nil && (s.gone == nil || !s.gone()); step = min(2*step, maxStep) {
		select {
		case <-ctx.Done():
		case <-time.After(step):
			n = max(n, s.applied(ctx))
		}
	}
	return n
}

// applied returns how many other nodes have applied everything that the connection has written,
// as far as is known before ctx ends.
func (s *Session) applied(ctx context.Context) int64 {
	n := int64(max(len(s.node.shards.Members())-1, 0))
	if s.records == nil {
		return n
	}
	q := s.node.question()
	select {
	case <-q.done:
	case <-ctx.Done():
		return 0
	}
	for i, record := range s.records {
		if record > 0 {
			n = min(n, q.count(i, record))
		}
	}
	return n
}

// A question asks all nodes how far they are. All sessions that wait share it.
type question struct {
	asked time.Time
	done  chan struct{} // closed when there is an answer
	told  [][]uint64    // by node and partition
}

// question returns a question that was asked a moment ago, or asks. The answer may be older than
// what a session has written: then it counts too few.
func (n *Node) question() *question {
	n.mu.Lock()
	defer n.mu.Unlock()
	if q := n.asked; q != nil && (time.Since(q.asked) < firstStep || !q.answered()) {
		return q
	}
	q := &question{asked: time.Now(), done: make(chan struct{})}
	n.asked = q
	go func() {
		defer close(q.done)
		ctx, cancel := context.WithTimeout(n.ended, askTime)
		defer cancel()
		q.told = n.shards.Applied(ctx)
	}()
	return q
}

func (q *question) answered() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// count returns how many nodes have applied a record of a partition.
func (q *question) count(partition int, record uint64) (n int64) {
	for _, applied := range q.told {
		if partition < len(applied) && applied[partition] >= record {
			n++
		}
	}
	return n
}
