package evergreen

import (
	"context"
	"fmt"

	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// A pace is how many blocks of 512 bits one operation added or took away: what a
// pause is made of, counted in place of timed.
type pace struct {
	most   uint64 // by one operation
	blocks uint64 // there were then
	steps  int    // operations that changed the size
}

func (p *pace) note(before, after uint64) {
	if before == after || before == 0 || after == 0 { // a list has no blocks
		return
	}
	change := max(before, after) - min(before, after)
	p.steps++
	if change > p.most {
		p.most, p.blocks = change, before
	}
}

// few is what "a few blocks" is taken to mean. A block holds some 40 keys, and one
// split makes room for that many.
const few = 4

// steps counts how much of the filter single operations change.
func steps(ctx context.Context, e *lab.Env) ([]lab.Check, error) {
	k, n := newKeys(e.Rand(1)), e.Int("keys")
	f, err := evergreen.New(evergreen.Config{FPR: e.Float("rate")})
	if err != nil {
		return nil, err
	}
	w := &walker{f: f, keys: k}
	adds, err := w.pace(ctx, n, f.Blocks, w.grow)
	if err != nil {
		return nil, err
	}
	deletes, err := w.pace(ctx, 0, f.Blocks, w.shrink)
	if err != nil {
		return nil, err
	}
	rival, err := elastic.New(elastic.Config{Items: uint64(e.Int("first size")), FPR: e.Float("rate")})
	if err != nil {
		return nil, err
	}
	jumps := pace{}
	for i := range n {
		before := rival.Bits()
		if _, err := rival.Add(k.member(i)); err != nil || ctx.Err() != nil {
			return nil, firstOf(err, ctx.Err())
		}
		jumps.note(before/512, rival.Bits()/512)
	}
	return []lab.Check{
		adds.check("blocks that one Add splits"),
		deletes.check("blocks that one Delete merges"),
		lab.Show("blocks' worth of bits that one Add to an elastic filter adds", jumps.String()),
	}, nil
}

// pace changes the filter key by key.
func (w *walker) pace(ctx context.Context, to int, blocks func() uint64, change func(int) error) (p pace, err error) {
	from, step := w.len(), 1
	if to < from {
		step = -1
	}
	for n := from; n != to && ctx.Err() == nil; n += step {
		before := blocks()
		if err := change(n + step); err != nil {
			return p, err
		}
		p.note(before, blocks())
	}
	return p, ctx.Err()
}

func (p pace) String() string {
	return fmt.Sprintf("at most %d, of %d that there were; %d operations changed the size", p.most, p.blocks, p.steps)
}

func (p pace) check(name string) lab.Check {
	return lab.Holds(name, "no operation does more than a few blocks' worth of work (package comment)",
		p.String(), p.steps > 0 && p.most <= few, fmt.Sprintf("at most %d", few))
}
