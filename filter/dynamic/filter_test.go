package dynamic_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/dynamic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	subject = filtertest.Subject{
		Name: "dynamic",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return made(dynamic.Config{Items: items, FPR: fpr})
		},
		Read: read,
	}
	// many has eight units when it holds what it was made for, fewer if that is little:
	// between units of a few keys answers are not independent.
	many = filtertest.Subject{
		Name: "dynamic/many",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return made(dynamic.Config{Items: 20 + items/8, FPR: fpr / 8, CounterBits: 8, Salt: items})
		},
		Read: read,
	}
	// crowd has a dozen units of a few keys each.
	crowd = filtertest.Subject{
		Name: "dynamic/crowd",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return made(dynamic.Config{Items: 1 + items/12, FPR: fpr, CounterBits: 2})
		},
		Read: read,
	}
	plain = filtertest.Subject{
		Name: "dynamic/plain",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			f, err := dynamic.New(dynamic.Config{Items: (items + 4) / 5, FPR: fpr / 5, CounterBits: 1})
			return undeletable{f}, err
		},
		Read: func(r io.Reader) (filter.Filter, error) {
			f, err := dynamic.Read(r)
			return undeletable{f}, err
		},
	}
	parallel = filtertest.Subject{
		Name: "parallel",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return dynamic.NewParallel(dynamic.Config{Items: (items + 1) / 2, FPR: fpr / 2, Partitions: 5})
		},
		Read: func(r io.Reader) (filter.Filter, error) { return dynamic.ReadParallel(r) },
	}
)

func made(c dynamic.Config) (filter.Filter, error) { return dynamic.New(c) }

func read(r io.Reader) (filter.Filter, error) { return dynamic.Read(r) }

// undeletable hides a Delete that plain units cannot do.
type undeletable struct{ f *dynamic.Filter }

func (u undeletable) Add(k filter.Key) (bool, error)  { return u.f.Add(k) }
func (u undeletable) MayContain(k filter.Key) bool    { return u.f.MayContain(k) }
func (u undeletable) Info() filter.Info               { return u.f.Info() }
func (u undeletable) Snapshot() io.WriterTo           { return u.f.Snapshot() }
func (u undeletable) Intersect(o filter.Filter) error { return u.f.Intersect(o) }

func (u undeletable) Union(o filter.Filter) error {
	if v, ok := o.(undeletable); ok {
		o = v.f
	}
	return u.f.Union(o)
}

func TestConformance(t *testing.T)         { filtertest.Run(t, subject) }
func TestPlainConformance(t *testing.T)    { filtertest.Run(t, plain) }
func TestParallelConformance(t *testing.T) { filtertest.Run(t, parallel) }

func TestManyUnitsConformance(t *testing.T) {
	effort.PlainOnly(t) // the same code as with one unit
	filtertest.Run(t, many)
}
