package frame

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

type salt uint32

// everyType has each type that a shape may have, and a blank field, which
// other packages use to force named fields in literals.
type everyType struct {
	_     struct{}
	A     uint
	B     uint8
	C     uint16
	D     uint32
	E     uint64
	F     int
	G     int8
	H     int16
	I     int32
	J     int64
	K     float64
	Salt4 salt
}

func TestShapeRoundTrip(t *testing.T) {
	for _, want := range []everyType{
		{},
		{A: 1, B: 2, C: 3, D: 4, E: 5, F: 6, G: 7, H: 8, I: 9, J: 10, K: 0.5, Salt4: 12},
		{
			A: math.MaxUint, B: math.MaxUint8, C: math.MaxUint16, D: math.MaxUint32, E: math.MaxUint64,
			F: math.MaxInt, G: math.MaxInt8, H: math.MaxInt16, I: math.MaxInt32, J: math.MaxInt64,
			K: -math.MaxFloat64, Salt4: math.MaxUint32,
		},
	} {
		r := Reader{header: Header{Shape: ShapeOf(want)}}
		got := everyType{A: 99, K: 99}
		if err := r.fill(&got); err != nil || got != want {
			t.Errorf("filled %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestFillNamesTheField(t *testing.T) {
	good := ShapeOf(everyType{})
	with := func(i int, v Value) Shape {
		s := append(Shape(nil), good...)
		s[i].Value = v
		return s
	}
	swapped := append(Shape(nil), good...)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	for want, s := range map[string]Shape{
		"shape: no more fields, want a, at offset 1026: corrupt":                                   nil,
		"shape: no more fields, want salt4, at offset 1147: corrupt":                               good[:11],
		"shape: more, want no more fields, at offset 1162: corrupt":                                append(good[:12:12], Field{"more", Uint(1)}),
		"shape: b, want a, at offset 1026: corrupt":                                                swapped,
		"shape: b: 256, want at most 255, at offset 1037: corrupt":                                 with(1, Uint(256)),
		"shape: g: 128, want at most 127, at offset 1092: corrupt":                                 with(6, Uint(128)),
		"shape: j: 9223372036854775808, want at most 9223372036854775807, at offset 1125: corrupt": with(9, Uint(1<<63)),
		"shape: salt4: 4294967296, want at most 4294967295, at offset 1147: corrupt":               with(11, Uint(1<<32)),
		"shape: a: 0.5, want the type uint, at offset 1026: corrupt":                               with(0, Float(0.5)),
		"shape: k: 1, want the type float64, at offset 1136: corrupt":                              with(10, Uint(1)),
	} {
		r := Reader{start: 1000, header: Header{Shape: s}}
		wantText(t, r.fill(new(everyType)), want)
	}
}

func TestWrongShapeTypesPanic(t *testing.T) {
	type inner struct{ Bits uint }
	for name, shape := range map[string]any{
		"nil":              nil,
		"number":           240,
		"pointer":          &geometry{},
		"array":            [1]uint{},
		"unexported field": struct{ bits uint }{},
		"string":           struct{ Name string }{},
		"bool":             struct{ Blocked bool }{},
		"float32":          struct{ FPR float32 }{},
		"pointer field":    struct{ P *int }{},
		"uintptr":          struct{ P uintptr }{},
		"nested":           struct{ Inner inner }{},
		"embedded":         struct{ inner }{},
		"underscore":       reflect.New(structOf(1, "Set_bits")).Elem().Interface(),
		"not ASCII":        struct{ Größe uint }{},
		"equal names":      struct{ Bits, BITS uint }{},
		"negative":         struct{ Bits int }{-1},
		"long name":        reflect.New(structOf(1, strings.Repeat("A", 33))).Elem().Interface(),
		"too many fields":  reflect.New(structOf(33, "A")).Elem().Interface(),
	} {
		if !panics(func() { ShapeOf(shape) }) {
			t.Errorf("ShapeOf: %s: no panic", name)
		}
	}
}

// structOf is a struct type with n fields of type uint.
func structOf(n int, name string) reflect.Type {
	fields := make([]reflect.StructField, n)
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprint(name, i), Type: reflect.TypeFor[uint]()}
	}
	return reflect.StructOf(fields)
}

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func TestShapePrintsAndMarshalsInOrder(t *testing.T) {
	s := Shape{{"hashes", Uint(math.MaxUint64)}, {"bits", Uint(240)}, {"fpr", Float(1e-9)}, {"load", Float(6)}}
	if got, want := s.String(), "hashes=18446744073709551615 bits=240 fpr=1e-09 load=6"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	got, err := json.Marshal(s)
	if want := `{"hashes":18446744073709551615,"bits":240,"fpr":1e-09,"load":6}`; err != nil || string(got) != want {
		t.Errorf("JSON = %s, %v, want %s", got, err, want)
	}
	if _, err := json.Marshal(Shape{{"fpr", Float(math.NaN())}}); err == nil {
		t.Error("NaN has no JSON, but there was no error")
	}
	if got, err := json.Marshal(Shape(nil)); err != nil || string(got) != "{}" {
		t.Errorf("JSON of no shape = %s, %v", got, err)
	}
}

// TestHashIsNeverShown prints a header in all ways that Go has: the hash may
// hold a secret.
func TestHashIsNeverShown(t *testing.T) {
	h := sample(nil).Header
	h.Hash = Opaque("SECRET!")
	asJSON, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for verb, got := range map[string]string{
		"json": string(asJSON), "String": h.String(),
		"%v": fmt.Sprintf("%v", h), "%+v": fmt.Sprintf("%+v", h), "%#v": fmt.Sprintf("%#v", h),
		"%x": fmt.Sprintf("%x", h.Hash), "%s": fmt.Sprintf("%s", h.Hash), "%q": fmt.Sprintf("%q", h.Hash), "%d": fmt.Sprintf("%d", h.Hash),
		"struct": fmt.Sprintf("%+v", struct{ H Header }{h}), "image": fmt.Sprintf("%+v", Image{Header: h}),
	} {
		for _, shown := range []string{"SECRET", "53454352", "83 69 67", "U0VDUkVU", "0x53, 0x45"} {
			if strings.Contains(got, shown) {
				t.Errorf("%s shows the hash: %s", verb, got)
			}
		}
		if !strings.Contains(got, "7 bytes") {
			t.Errorf("%s does not say that there is a hash: %s", verb, got)
		}
	}
}
