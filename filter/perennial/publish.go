package perennial

import (
	"runtime"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/internal/bitvec"
)

// A draft is a line as it will be.
type draft struct {
	index uint64
	line  line
}

// draft begins a change of line i, which may be one of a change that is not published yet.
func (r *ring) draft(i uint64) *line {
	for j := range r.drafts {
		if r.drafts[j].index == i {
			return &r.drafts[j].line
		}
	}
	r.borrow()
	r.drafts = append(r.drafts, draft{i, *r.at(i)})
	return &r.drafts[len(r.drafts)-1].line
}

// draftPair is draft for two lines.
func (r *ring) draftPair(i, j uint64) (first, second *line) {
	r.draft(i)
	second = r.draft(j) // which may move the first
	return r.draft(i), second
}

// publishOne is publish for one line, which will be as given.
func (r *ring) publishOne(i uint64, l *line) {
	r.keep(i)
	seq := r.seqs.Load().of(i)
	seq.Add(1)
	r.at(i).set(l)
	seq.Add(1)
	r.written++
}

// publish makes all drafts the lines of the ring, and y its layout, in one step for readers.
func (r *ring) publish(y layout) {
	seqs := *r.seqs.Load()
	for i := range r.drafts {
		r.keep(r.drafts[i].index)
		if seq := seqs.of(r.drafts[i].index); seq.Load()&1 == 0 {
			seq.Add(1)
		}
	}
	r.countWaiting(y)
	if y != r.layout {
		r.layout = y
		r.moved()
	}
	for i := range r.drafts {
		r.at(r.drafts[i].index).set(&r.drafts[i].line)
	}
	for i := range r.drafts {
		if seq := seqs.of(r.drafts[i].index); seq.Load()&1 == 1 {
			seq.Add(1)
		}
	}
	r.written += uint64(len(r.drafts))
	r.discard()
}

// countWaiting keeps the sum for a change that is about to be published.
func (r *ring) countWaiting(y layout) {
	for i := range r.drafts {
		d := &r.drafts[i]
		if d.index < r.layout.total {
			r.waiting -= uint64(r.at(d.index).in())
		}
		r.waiting += uint64(d.line.in())
	}
	for i := y.total; i < r.layout.total; i++ {
		r.waiting -= uint64(r.at(i).in())
	}
}

// inOrder says that other processors see plain loads and stores in the order of the program.
const inOrder = runtime.GOARCH == "amd64" || runtime.GOARCH == "386"

// set changes the words of a line that differ, after all that was stored before.
func (l *line) set(to *line) {
	for i, word := range to {
		switch {
		case l[i] == word:
		case inOrder:
			bitvec.Store(&l[i], word)
		default:
			atomic.StoreUint64(&l[i], word)
		}
	}
}
