package filtertest

import (
	"bytes"
	"io"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// hooks replace operations of an Exact; those that are nil are left alone.
type hooks struct {
	add       func(f *Exact, k filter.Key) (bool, error)
	has       func(f *Exact, k filter.Key) bool
	info      func(f *Exact) filter.Info
	delete    func(f *Exact, k filter.Key) error
	union     func(f *Exact, other filter.Filter) error
	prepare   func(f *Exact, other filter.Filter) (func(bool) error, error)
	intersect func(f *Exact, other filter.Filter) error
	clear     func(f *Exact) error
	grow      func(f *Exact) error
	snapshot  func(f *Exact) io.WriterTo
	image     func(f *Exact) io.WriterTo
	read      func(r io.Reader) (*Exact, error)
}

// A faulty is an Exact with faults.
type faulty struct {
	exact *Exact
	hooks hooks
}

// subject returns the kind of Exact with the faults.
func (h hooks) subject(c ExactConfig) Subject {
	return Subject{
		Name: "faulty",
		New: func(items uint64, _ float64) (filter.Filter, error) {
			c := c
			c.Items = items
			return &faulty{NewExact(c), h}, nil
		},
		Read: func(r io.Reader) (filter.Filter, error) {
			read := ReadExact
			if h.read != nil {
				read = h.read
			}
			f, err := read(r)
			if err != nil {
				return nil, err
			}
			return &faulty{f, h}, nil
		},
	}
}

func (f *faulty) Add(k filter.Key) (bool, error) {
	if f.hooks.add != nil {
		return f.hooks.add(f.exact, k)
	}
	return f.exact.Add(k)
}

func (f *faulty) MayContain(k filter.Key) bool {
	if f.hooks.has != nil {
		return f.hooks.has(f.exact, k)
	}
	return f.exact.MayContain(k)
}

func (f *faulty) Info() filter.Info {
	if f.hooks.info != nil {
		return f.hooks.info(f.exact)
	}
	return f.exact.Info()
}

func (f *faulty) Delete(k filter.Key) error {
	if f.hooks.delete != nil {
		return f.hooks.delete(f.exact, k)
	}
	return f.exact.Delete(k)
}

// unwrapped returns the Exact inside of a faulty, and others as they are.
func unwrapped(other filter.Filter) filter.Filter {
	if o, ok := other.(*faulty); ok {
		return o.exact
	}
	return other
}

func (f *faulty) Union(other filter.Filter) error {
	if f.hooks.union != nil {
		return f.hooks.union(f.exact, unwrapped(other))
	}
	return f.exact.Union(unwrapped(other))
}

func (f *faulty) PrepareUnion(other filter.Filter) (func(bool) error, error) {
	if f.hooks.prepare != nil {
		return f.hooks.prepare(f.exact, unwrapped(other))
	}
	return f.exact.PrepareUnion(unwrapped(other))
}

func (f *faulty) Clear() error {
	if f.hooks.clear != nil {
		return f.hooks.clear(f.exact)
	}
	return f.exact.Clear()
}

func (f *faulty) Intersect(other filter.Filter) error {
	if f.hooks.intersect != nil {
		return f.hooks.intersect(f.exact, unwrapped(other))
	}
	return f.exact.Intersect(unwrapped(other))
}

func (f *faulty) Grow() error {
	if f.hooks.grow != nil {
		return f.hooks.grow(f.exact)
	}
	return f.exact.Grow()
}

func (f *faulty) Shrink() error { return f.exact.Shrink() }

func (f *faulty) Snapshot() io.WriterTo {
	if f.hooks.snapshot != nil {
		return f.hooks.snapshot(f.exact)
	}
	return f.exact.Snapshot()
}

// Image is the Snapshot, where it has no fault of its own.
func (f *faulty) Image() io.WriterTo {
	if f.hooks.image != nil {
		return f.hooks.image(f.exact)
	}
	return f.Snapshot()
}

// lazy is a snapshot that is taken only when it is written.
type lazy struct{ f *Exact }

func (l lazy) WriteTo(w io.Writer) (int64, error) { return l.f.Snapshot().WriteTo(w) }

// deaf is a snapshot that does not hear the writer's errors.
type deaf struct{ io.WriterTo }

func (d deaf) WriteTo(w io.Writer) (int64, error) {
	n, _ := d.WriterTo.WriteTo(w)
	return n, nil
}

// lie gives a filter a rate: it says yes to a share of all keys that grows with
// the number of keys, and is rate at capacity.
func lie(rate float64) func(f *Exact, k filter.Key) bool {
	return func(f *Exact, k filter.Key) bool {
		bits := probe.NewMixer(99).Mix(Stream{Seed: 7}.permute(uint64(k)))
		share := rate * float64(f.set.Len()) / float64(f.room)
		return f.set.Has(k) || float64(bits>>11)/(1<<53) < share
	}
}

// tell makes Info tell the rate that lie gives.
func tell(rate float64) func(f *Exact) filter.Info {
	return func(f *Exact) filter.Info {
		info := f.Info()
		info.FPR = min(1, rate*float64(f.set.Len())/float64(f.room))
		return info
	}
}

// alter changes the Info of an Exact.
func alter(change func(*filter.Info)) func(f *Exact) filter.Info {
	return func(f *Exact) filter.Info {
		info := f.Info()
		change(&info)
		return info
	}
}

// loseAny takes some key out, if there are any.
func loseAny(f *Exact) {
	if f.set.Len() > 0 {
		f.set.Remove(f.set.At(0))
	}
}

// trusting reads without looking at anything.
func trusting(io.Reader) (*Exact, error) { return NewExact(ExactConfig{}), nil }

// generous takes as much memory as a file's shape asks for, before it looks at the file.
func generous(r io.Reader) (*Exact, error) {
	f, err := ReadExact(r)
	if err == nil {
		sink = make([]byte, min(f.room, 1<<26))
	}
	return f, err
}

// hasty reads bytes that it has not checked to be there.
func hasty(r io.Reader) (*Exact, error) {
	b, _ := io.ReadAll(r)
	_ = b[40]
	return ReadExact(bytes.NewReader(b))
}
