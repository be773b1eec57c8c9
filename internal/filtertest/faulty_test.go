package filtertest

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// hooks are the operations of an Exact with faults; nil ones have none.
type hooks struct {
	Add        func(f *Exact, k filter.Key) (bool, error)
	MayContain func(f *Exact, k filter.Key) bool
	Info       func(f *Exact) filter.Info
	Delete     func(f *Exact, k filter.Key) error
	Union      func(f *Exact, other filter.Filter) error
	Prepare    func(f *Exact, other filter.Filter) (func(bool) error, error)
	Intersect  func(f *Exact, other filter.Filter) error
	Clear      func(f *Exact) error
	Grow       func(f *Exact) error
	Snapshot   func(f *Exact) io.WriterTo
	Image      func(f *Exact) io.WriterTo // nil is as Snapshot
	Read       func(r io.Reader) (*Exact, error)
}

var sound = hooks{
	(*Exact).Add, (*Exact).MayContain, (*Exact).Info, (*Exact).Delete,
	(*Exact).Union, (*Exact).PrepareUnion, (*Exact).Intersect, (*Exact).Clear, (*Exact).Grow,
	(*Exact).Snapshot, nil, ReadExact,
}

// withoutNil takes from sound what is nil.
func (h hooks) withoutNil() hooks {
	fields, defaults := reflect.ValueOf(&h).Elem(), reflect.ValueOf(sound)
	for i := range fields.NumField() {
		if fields.Field(i).IsNil() {
			fields.Field(i).Set(defaults.Field(i))
		}
	}
	if h.Image == nil {
		h.Image = h.Snapshot
	}
	return h
}

// A faulty is an Exact with faults.
type faulty struct {
	exact *Exact
	hooks hooks
}

func (h hooks) faulty(f *Exact) *faulty { return &faulty{f, h.withoutNil()} }

// subject returns the kind of Exact with the faults.
func (h hooks) subject(c ExactConfig) Subject {
	return Subject{
		Name: "faulty",
		New: func(items uint64, _ float64) (filter.Filter, error) {
			c := c
			c.Items = items
			return h.faulty(NewExact(c)), nil
		},
		Read: func(r io.Reader) (filter.Filter, error) { return h.read(r) },
	}
}

func (h hooks) read(r io.Reader) (*faulty, error) {
	f, err := h.withoutNil().Read(r)
	if err != nil {
		return nil, err
	}
	return h.faulty(f), nil
}

// codec is the stored form of an Exact with the faults. Its golden file has no fault:
// it is of golden without hooks.
func (h hooks) codec(tb testing.TB) Codec[*faulty] {
	tb.Helper()
	plain, _ := hooks{}.golden()
	return Codec[*faulty]{Kind: ExactKind, Read: h.read, Files: fstest.MapFS{"words.golden": {Data: Stored(tb, plain)}}}
}

// golden returns the filter of the golden file, and its keys.
func (h hooks) golden() (*faulty, []filter.Key) {
	keys := KeysOf("some words that are kept for ever")
	f := NewExact(ExactConfig{})
	for _, k := range keys {
		_, _ = f.Add(k)
	}
	return h.faulty(f), keys
}

var errPlanted = errors.New("planted")

func (f *faulty) Add(k filter.Key) (bool, error)  { return f.hooks.Add(f.exact, k) }
func (f *faulty) MayContain(k filter.Key) bool    { return f.hooks.MayContain(f.exact, k) }
func (f *faulty) Info() filter.Info               { return f.hooks.Info(f.exact) }
func (f *faulty) Delete(k filter.Key) error       { return f.hooks.Delete(f.exact, k) }
func (f *faulty) Clear() error                    { return f.hooks.Clear(f.exact) }
func (f *faulty) Grow() error                     { return f.hooks.Grow(f.exact) }
func (f *faulty) Shrink() error                   { return f.exact.Shrink() }
func (f *faulty) Snapshot() io.WriterTo           { return f.hooks.Snapshot(f.exact) }
func (f *faulty) Image() io.WriterTo              { return f.hooks.Image(f.exact) }
func (f *faulty) Union(other filter.Filter) error { return f.hooks.Union(f.exact, unwrapped(other)) }
func (f *faulty) Intersect(other filter.Filter) error {
	return f.hooks.Intersect(f.exact, unwrapped(other))
}

func (f *faulty) PrepareUnion(other filter.Filter) (func(bool) error, error) {
	return f.hooks.Prepare(f.exact, unwrapped(other))
}

// unwrapped returns the Exact inside of a faulty, and others as they are.
func unwrapped(other filter.Filter) filter.Filter {
	if o, ok := other.(*faulty); ok {
		return o.exact
	}
	return other
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

// lie gives a filter a rate: it finds a share of all keys that grows with
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

// thenLose merges and then takes some key out.
func thenLose(merge func(*Exact, filter.Filter) error) func(*Exact, filter.Filter) error {
	return func(f *Exact, other filter.Filter) error {
		err := merge(f, other)
		if err == nil {
			loseAny(f)
		}
		return err
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
