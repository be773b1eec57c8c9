package perennial

import "github.com/everbloom-go/everbloom/internal/bitvec"

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
	if len(r.drafts) == fewDrafts {
		r.borrow()
	}
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
	seq := r.seqs.Load().of(i)
	seq.Add(1)
	to := r.at(i)
	for j, word := range l {
		if to[j] != word {
			bitvec.Store(&to[j], word)
		}
	}
	seq.Add(1)
	r.written++
}

// publish makes all drafts the lines of the ring, and y its layout, in one step for readers.
func (r *ring) publish(y layout) {
	seqs := *r.seqs.Load()
	for i := range r.drafts {
		if seq := seqs.of(r.drafts[i].index); seq.Load()&1 == 0 {
			seq.Add(1)
		}
	}
	if y != r.layout {
		r.layout = y
		r.moved()
	}
	for i := range r.drafts {
		to := r.at(r.drafts[i].index)
		for j, word := range r.drafts[i].line {
			if to[j] != word {
				bitvec.Store(&to[j], word)
			}
		}
	}
	for i := range r.drafts {
		if seq := seqs.of(r.drafts[i].index); seq.Load()&1 == 1 {
			seq.Add(1)
		}
	}
	r.written += uint64(len(r.drafts))
	r.discard()
}
