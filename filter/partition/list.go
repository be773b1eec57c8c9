package partition

import "sync"

// A list is a buffer for ids, lent for the time of one change, so that a filter
// that is at rest holds none.
type list struct{ ids []uint64 }

var lists = sync.Pool{New: func() any { return new(list) }}

func takeList() *list { return lists.Get().(*list) }

func (l *list) release() {
	l.ids = l.ids[:0]
	lists.Put(l)
}
