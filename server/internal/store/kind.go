package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/counting"
	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/filter/partition"
	"github.com/everbloom-go/everbloom/filter/perennial"
	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/rebloom"
)

// A maker makes filters of one kind.
type maker struct {
	name  string
	shape func(items uint64, fpr float64) (frame.Shape, error)
	build func(frame.Shape) (filter.Filter, error)
}

// shaped returns a maker by what a kind's package offers.
func shaped[S any, F filter.Filter](name string, shape func(items uint64, fpr float64) (S, error), build func(S) (F, error)) maker {
	return maker{
		name: name,
		shape: func(items uint64, fpr float64) (frame.Shape, error) {
			s, err := shape(items, fpr)
			if err != nil {
				return nil, err
			}
			return frame.ShapeOf(s), nil
		},
		build: func(fields frame.Shape) (filter.Filter, error) {
			var s S
			if err := fill(&s, fields); err != nil {
				return nil, err
			}
			f, err := build(s)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
	}
}

// fill sets the fields of a shape by name: all of them, and no others.
func fill(shape any, fields frame.Shape) error {
	v := reflect.ValueOf(shape).Elem()
	if len(fields) != v.NumField() {
		return fmt.Errorf("store: a shape of %d numbers, %T has %d", len(fields), shape, v.NumField())
	}
	for _, f := range fields {
		dst := v.FieldByNameFunc(func(name string) bool { return strings.ToLower(name) == f.Name })
		x, isFloat := f.Value.Float()
		n, _ := f.Value.Uint()
		switch {
		case !dst.IsValid() || dst.CanFloat() != isFloat:
			return fmt.Errorf("store: %T has no number %s", shape, f.Name)
		case isFloat:
			dst.SetFloat(x)
		case dst.CanUint():
			dst.SetUint(n)
		default:
			if n > 1<<31-1 {
				return fmt.Errorf("store: %s of %T: %d is too large", f.Name, shape, n)
			}
			dst.SetInt(int64(n))
		}
	}
	return nil
}

// makers are the kinds that a server makes, by their numbers in files.
var makers = map[frame.Kind]maker{
	frame.Bloom: shaped("bloom", func(n uint64, p float64) (bloom.Shape, error) {
		return bloom.Config{Items: n, FPR: p}.Shape()
	}, bloom.Build),
	frame.Blocked: shaped("blocked", func(n uint64, p float64) (bloom.BlockedShape, error) {
		return bloom.Config{Items: n, FPR: p}.BlockedShape()
	}, bloom.BuildBlocked),
	frame.Counting: shaped("counting", func(n uint64, p float64) (counting.Shape, error) {
		return counting.Config{Items: n, FPR: p}.Shape()
	}, counting.Build),
	frame.DLeft: shaped("dleft", func(n uint64, p float64) (dleft.Shape, error) {
		return dleft.Config{Items: n, FPR: p}.Shape()
	}, dleft.Build),
	frame.Scalable: shaped("scalable", func(n uint64, p float64) (scalable.Shape, error) {
		return scalable.Config{Items: n, FPR: p}.Shape()
	}, scalable.Build),
	frame.Partition: shaped("partition", func(n uint64, p float64) (partition.Shape, error) {
		return partition.Config{Items: n, FPR: p}.Shape()
	}, partition.Build),
	frame.Evergreen: shaped("evergreen", func(_ uint64, p float64) (evergreen.Shape, error) {
		return evergreen.Config{FPR: min(p, 0.5)}.Shape()
	}, evergreen.Build),
	frame.Perennial: shaped("perennial", func(n uint64, p float64) (perennial.Shape, error) {
		return perennial.Config{Items: n, FPR: p}.Shape()
	}, perennial.Build),
}

// KindName returns the name of a kind.
func KindName(k frame.Kind) string {
	if k == rebloom.Kind {
		return "rebloom"
	}
	return makers[k].name
}

// KindNames returns the names of all kinds that a server makes, in order.
func KindNames() []string {
	var names []string
	for _, m := range makers {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return names
}

// KindOf returns the kind of a name, if a server makes it.
func KindOf(name string) (frame.Kind, bool) {
	for k, m := range makers {
		if m.name == name {
			return k, true
		}
	}
	return 0, false
}

// request is what shapes are kept for.
type request struct {
	kind  frame.Kind
	items uint64
	fpr   float64
}

const (
	maxShapes = 1024
	maxSpecs  = 1024
)

// Shape returns the geometry of a filter of a kind. To find it takes longer than to make a
// small filter, so those found lately are kept. It is called by the partition.
func (s *Store) Shape(kind frame.Kind, items uint64, fpr float64) (frame.Shape, error) {
	r := request{kind, items, fpr}
	if shape, ok := s.shapes[r]; ok {
		return shape, nil
	}
	m, ok := makers[kind]
	if !ok {
		return nil, fmt.Errorf("store: a server makes no filters of kind %d", kind)
	}
	shape, err := m.shape(items, fpr)
	if err != nil {
		return nil, err
	}
	if len(s.shapes) >= maxShapes {
		clear(s.shapes)
	}
	s.shapes[r] = shape
	return shape, nil
}

// shared returns a Spec without expiry and items, the same one for all entries that are alike:
// there may be many small ones.
func (s *Store) shared(spec Spec) *Spec {
	spec.Expiry, spec.Items, spec.Deletes = 0, 0, 0
	var room [256]byte
	form := spec.AppendTo(room[:0])
	if known := s.specs[string(form)]; known != nil {
		return known
	}
	if len(s.specs) >= maxSpecs {
		clear(s.specs)
	}
	s.specs[string(form)] = &spec
	return &spec
}
