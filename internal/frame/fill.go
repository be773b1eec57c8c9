package frame

import (
	"math"
	"reflect"
)

// fill stores the header's shape in the struct that shape points to, the reverse
// of ShapeOf. Every field must be there, in the same order and of the same type,
// must fit, and there must be no others.
func (r *Reader) fill(shape any) error {
	out := reflect.ValueOf(shape).Elem()
	stored := r.header.Shape
	fields := fieldsOf(out.Type())
	for i, f := range fields {
		switch {
		case i == len(stored):
			return r.wrongField(i, "shape", "no more fields", f.Name)
		case stored[i].Name != f.Name:
			return r.wrongField(i, "shape", stored[i].Name, f.Name)
		}
		if limit := stored[i].Value.store(out.FieldByIndex(f.Index)); limit != "" {
			return r.wrongField(i, "shape: "+f.Name, stored[i].Value, limit)
		}
	}
	if n := len(fields); n < len(stored) {
		return r.wrongField(n, "shape", stored[n].Name, "no more fields")
	}
	return nil
}

// wrongField is about the field of the shape with number i.
func (r *Reader) wrongField(i int, field string, value, limit any) error {
	h := r.header
	h.Shape = h.Shape[:i]
	return corrupt(r.start+uint64(h.size()-tailSize), field, value, limit)
}

// store sets dst to v if it has the type for it and the number fits. Otherwise it
// returns what would.
func (v Value) store(dst reflect.Value) (limit string) {
	switch {
	case v.float != dst.CanFloat():
		return "the type " + dst.Type().String()
	case v.float:
		dst.SetFloat(math.Float64frombits(v.bits))
	case dst.CanUint() && !dst.OverflowUint(v.bits):
		dst.SetUint(v.bits)
	case dst.CanInt() && v.bits <= math.MaxInt64 && !dst.OverflowInt(int64(v.bits)):
		dst.SetInt(int64(v.bits))
	default:
		return atMost(limitOf(dst.Type()))
	}
	return ""
}

// limitOf is the largest number that the integer type t holds.
func limitOf(t reflect.Type) uint64 {
	bits := t.Bits()
	if t.Kind() <= reflect.Int64 {
		bits--
	}
	return math.MaxUint64 >> (64 - bits)
}
