package frame

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Shape is a kind's geometry, as plain named numbers in a fixed order.
type Shape []Field

// Field is one number of a shape. Its name has 1 to 32 lower-case ASCII
// letters and digits.
type Field struct {
	Name  string
	Value Value
}

// Value is an unsigned integer or a finite floating-point number. Values are
// comparable; the zero Value is the integer 0.
type Value struct {
	bits  uint64
	float bool
}

// Uint returns the Value of an unsigned integer.
func Uint(v uint64) Value { return Value{bits: v} }

// Float returns the Value of a floating-point number. Infinities and NaN can
// be held, but neither written nor read.
func Float(v float64) Value { return Value{bits: math.Float64bits(v), float: true} }

// Uint returns the number if it is an integer.
func (v Value) Uint() (n uint64, ok bool) { return v.bits, !v.float }

// Float returns the number if it is a floating-point one.
func (v Value) Float() (x float64, ok bool) { return math.Float64frombits(v.bits), v.float }

// String gives the number in the shortest form that says it exactly.
func (v Value) String() string {
	if x, ok := v.Float(); ok {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatUint(v.bits, 10)
}

// finite reports whether v is a number that the format can hold. A shape must
// equal itself, and NaN does not.
func (v Value) finite() bool {
	x, ok := v.Float()
	return !ok || !math.IsNaN(x) && !math.IsInf(x, 0)
}

// String gives the fields as name=value, separated by spaces.
func (s Shape) String() string {
	var b strings.Builder
	for i, f := range s {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Name + "=" + f.Value.String())
	}
	return b.String()
}

// MarshalJSON gives one object with the fields in their order.
func (s Shape) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range s {
		if !f.Value.finite() {
			return nil, fmt.Errorf("frame: shape: %s: %v is not a finite number", f.Name, f.Value)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%v", f.Name, f.Value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// ShapeOf lists the fields of a struct of plain numbers: integers of any width
// and float64, all exported, and exported structs of such fields that it embeds; blank fields are passed
// over. Names are put in lower case. It panics if the type is not such a struct, or if an integer is
// negative, which no valid geometry has: both are errors in the program.
func ShapeOf(shape any) Shape {
	v := reflect.ValueOf(shape)
	if v.Kind() != reflect.Struct {
		panic(fmt.Sprintf("frame: shape: %T is not a struct", shape))
	}
	var out Shape
	for _, f := range fieldsOf(v.Type()) {
		out = append(out, Field{f.Name, valueOf(f.Name, v.FieldByIndex(f.Index))})
	}
	return out
}

// valueOf converts one field of a struct that fieldsOf has approved.
func valueOf(name string, v reflect.Value) Value {
	switch {
	case v.CanFloat():
		return Float(v.Float())
	case v.CanUint():
		return Uint(v.Uint())
	case v.Int() < 0:
		panic(fmt.Sprintf("frame: shape: %s: %d is negative", name, v.Int()))
	}
	return Uint(uint64(v.Int()))
}

// fieldsOf returns the fields of a shape under their stored names, without blank ones. It
// panics if the type cannot be a shape.
func fieldsOf(t reflect.Type) (fields []reflect.StructField) {
	seen := make(map[string]bool)
	for _, f := range reflect.VisibleFields(t) {
		if f.Name == "_" || f.Anonymous && f.IsExported() && f.Type.Kind() == reflect.Struct {
			continue
		}
		name := strings.ToLower(f.Name)
		if !f.IsExported() || !validName(name) || !plainNumber(f.Type.Kind()) || seen[name] {
			panic(fmt.Sprintf("frame: shape: %v: field %s is not an exported plain number with a name of its own", t, f.Name))
		}
		f.Name, seen[name] = name, true
		fields = append(fields, f)
	}
	if len(fields) > maxFields {
		panic(fmt.Sprintf("frame: shape: %v: %d fields, limit %d", t, len(fields), maxFields))
	}
	return fields
}

// plainNumber reports whether a shape may have fields of kind k.
func plainNumber(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float64
}

// validName reports whether a field may be called so. The narrow alphabet lets
// tools print names and use them as keys without quoting.
func validName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= maxName
}
