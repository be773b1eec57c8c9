package partition

import "container/heap"

// expiries are the times at which entries end, the next one first. An entry may be there
// several times; what it says itself counts.
type expiries struct{ list expiryHeap }

type expiry struct {
	at     int64
	number uint64
}

func (x *expiries) push(at int64, number uint64) { heap.Push(&x.list, expiry{at, number}) }

// pop returns an entry that may have ended by now.
func (x *expiries) pop(now int64) (number uint64, ok bool) {
	if len(x.list) == 0 || x.list[0].at > now {
		return 0, false
	}
	return heap.Pop(&x.list).(expiry).number, true
}

type expiryHeap []expiry

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiryHeap) Push(x any)        { *h = append(*h, x.(expiry)) }

func (h *expiryHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
