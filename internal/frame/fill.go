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
	next := 0
	for i, name := range fieldNames(out.Type()) {
		switch {
		case name == "":
			continue
		case next == len(stored):
			return r.wrongField(next, "shape", "no more fields", name)
		case stored[next].Name != name:
			return r.wrongField(next, "shape", stored[next].Name, name)
		}
		if limit := stored[next].Value.store(out.Field(i)); limit != "" {
			return r.wrongField(next, "shape: "+name, stored[next].Value, limit)
		}
		next++
	}
	if next < len(stored) {
		return r.wrongField(next, "shape", stored[next].Name, "no more fields")
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
