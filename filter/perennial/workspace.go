package perennial

import "sync"

// A workspace is memory for changes of many lines. A ring borrows it for the time of a
// change, so that a small filter does not hold more memory for changes than for keys.
type workspace struct {
	rewriter
	drafts []draft
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// borrow returns the rewriter of the ring's workspace, where drafts are, too.
func (r *ring) borrow() *rewriter {
	if r.work == nil {
		r.work = workspaces.Get().(*workspace)
		r.work.ring = r
		r.drafts = r.work.drafts[:0]
	}
	return &r.work.rewriter
}

// discard forgets all drafts and gives the workspace back.
func (r *ring) discard() {
	r.drafts = r.drafts[:0]
	if work := r.work; work != nil {
		work.drafts, work.ring = r.drafts, nil
		r.work, r.drafts = nil, nil
		workspaces.Put(work)
	}
}
