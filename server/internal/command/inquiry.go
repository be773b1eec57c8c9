package command

import (
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/server/internal/store"
)

// An inquiry is questions of a pipeline about one filter, which are answered together: the
// memory that they need is fetched at the same time.
type inquiry struct {
	entry   *store.Entry
	keys    []filter.Key
	offsets []int // of the replies, which say no until the questions are answered
}

// maxInquiry is how many questions wait.
const maxInquiry = 256

// ask asks whether an item may be there, and has the reply wait for those that follow.
func (s *Session) ask(e *store.Entry, item []byte) {
	q := &s.inquiry
	if q.entry != e || len(q.keys) == maxInquiry {
		s.Answer()
		q.entry = e
	}
	q.keys = append(q.keys, e.Key(item))
	q.offsets = append(q.offsets, s.w.Len())
	s.w.Bool(false)
}

// Answer answers the questions that wait.
func (s *Session) Answer() {
	q := &s.inquiry
	if q.entry == nil {
		return
	}
	for i, yes := range s.ofKeys(q.entry, q.keys) {
		if yes {
			s.w.Confirm(q.offsets[i])
		}
	}
	q.entry, q.keys, q.offsets = nil, q.keys[:0], q.offsets[:0]
}

// ofKeys returns which keys may be in a filter. It is good until the next call.
func (s *Session) ofKeys(e *store.Entry, keys []filter.Key) []bool {
	if cap(s.found) < len(keys) {
		s.found = make([]bool, len(keys))
	}
	found := s.found[:len(keys)]
	e.MayContainBatch(keys, found)
	return found
}
