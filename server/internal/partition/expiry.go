package partition

import "container/heap"

// expiries are the times at which entries end, the next one first. An entry is there once.
type expiries struct {
	list   []expiry
	places map[uint64]int // in list, by number
}

type expiry struct {
	at     int64
	number uint64
}

// set says when an entry ends; 0 means never.
func (x *expiries) set(at int64, number uint64) {
	i, known := x.places[number]
	switch {
	case known && at == 0:
		heap.Remove(x, i)
	case known:
		x.list[i].at = at
		heap.Fix(x, i)
	case at != 0:
		heap.Push(x, expiry{at, number})
	}
}

// pop returns an entry that may have ended by now.
func (x *expiries) pop(now int64) (number uint64, ok bool) {
	if len(x.list) == 0 || x.list[0].at > now {
		return 0, false
	}
	return heap.Pop(x).(expiry).number, true
}

// clear forgets all entries.
func (x *expiries) clear() { x.list, x.places = nil, nil }

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (x *expiries) Len() int           { return len(x.list) }
func (x *expiries) Less(i, j int) bool { return x.list[i].at < x.list[j].at }

// Swap keeps the places.
func (x *expiries) Swap(i, j int) {
	x.list[i], x.list[j] = x.list[j], x.list[i]
	x.places[x.list[i].number], x.places[x.list[j].number] = i, j
}

// Push appends an entry.
func (x *expiries) Push(v any) {
	if x.places == nil {
		x.places = make(map[uint64]int)
	}
	e := v.(expiry)
	x.places[e.number] = len(x.list)
	x.list = append(x.list, e)
}

// Pop takes the last entry away.
func (x *expiries) Pop() any {
	last := x.list[len(x.list)-1]
	x.list = x.list[:len(x.list)-1]
	delete(x.places, last.number)
	return last
}
