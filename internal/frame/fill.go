package frame

import (
	"fmt"
	"math"
	"reflect"
)

// Fill stores the header's shape in the struct that shape points to, the
// reverse of ShapeOf. Every field must be there, in the same order and of the
// same type, must fit, and there must be no others; otherwise the error
// matches ErrCorrupt, names the field, and the struct is as it was. Fill
// panics if shape is not a pointer to a struct that ShapeOf accepts.
func (h Header) Fill(shape any) error {
	p := reflect.ValueOf(shape)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Type().Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("frame: shape: %T is not a pointer to a struct", shape))
	}
	out := reflect.New(p.Type().Elem()).Elem()
	if at, err := h.Shape.fill(out, fieldNames(out.Type())); err != nil {
		h.Shape = h.Shape[:at]
		return fmt.Errorf("frame: shape: %w, at offset %d of the frame: %w", err, h.size()-tailSize, ErrCorrupt)
	}
	p.Elem().Set(out)
	return nil
}

// fill sets the fields of out that have a name from s, one to one. It returns
// how many of s went well.
func (s Shape) fill(out reflect.Value, names []string) (next int, err error) {
	for i, name := range names {
		if name == "" {
			continue
		}
		if next == len(s) {
			return next, fmt.Errorf("%s: missing", name)
		}
		if got := s[next].Name; got != name {
			return next, fmt.Errorf("field %d: %q, want %q", next, got, name)
		}
		if err := s[next].Value.store(out.Field(i)); err != nil {
			return next, fmt.Errorf("%s: %w", name, err)
		}
		next++
	}
	if next < len(s) {
		return next, fmt.Errorf("%s: not a field of this kind", s[next].Name)
	}
	return next, nil
}

// store sets dst to v if it has the type for it and the number fits.
func (v Value) store(dst reflect.Value) error {
	switch {
	case v.float != dst.CanFloat():
		return fmt.Errorf("%v does not have the type %v", v, dst.Type())
	case v.float:
		dst.SetFloat(math.Float64frombits(v.bits))
	case dst.CanUint() && !dst.OverflowUint(v.bits):
		dst.SetUint(v.bits)
	case dst.CanInt() && v.bits <= math.MaxInt64 && !dst.OverflowInt(int64(v.bits)):
		dst.SetInt(int64(v.bits))
	default:
		return fmt.Errorf("%v, limit %d", v, limitOf(dst.Type()))
	}
	return nil
}

// limitOf is the largest number that the integer type t holds.
func limitOf(t reflect.Type) uint64 {
	bits := t.Bits()
	if t.Kind() <= reflect.Int64 {
		bits--
	}
	return math.MaxUint64 >> (64 - bits)
}
