package everbloom

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
)

// seqBatch is how many keys of a sequence are added at once.
const seqBatch = 256

// AddSeq adds the keys of a sequence, in batches, and returns how many looked new.
// After an error the keys up to some point are in the set.
//
//	n, err := everbloom.AddSeq(set, maps.Keys(users), set.Hash().String)
func AddSeq[K any](s *Set, keys iter.Seq[K], key func(K) filter.Key) (n int, err error) {
	batch := make([]filter.Key, 0, seqBatch)
	for k := range keys {
		if batch = append(batch, key(k)); len(batch) < seqBatch {
			continue
		}
		fresh, err := s.AddBatch(batch, nil)
		n, batch = n+fresh, batch[:0]
		if err != nil {
			return n, err
		}
	}
	fresh, err := s.AddBatch(batch, nil)
	return n + fresh, err
}

// KeyFunc returns a function that turns values of type T into keys of h: structs,
// arrays, slices, strings and numbers, and these inside each other. Types with
// pointers, maps, interfaces, channels or functions inside are an error. A key
// depends on the values and the order of the fields, not on names or the machine.
// Strings, byte slices and unsigned numbers by themselves are the keys that
// AddString, Add and AddUint64 make of them.
//
//	key, err := everbloom.KeyFunc[Session](set.Hash())
//	set.AddKey(key(Session{User: "alice", Day: 17}))
func KeyFunc[T any](h filter.Hash) (func(T) filter.Key, error) {
	t := reflect.TypeFor[T]()
	if err := checkKeyType(t, t.String(), nil); err != nil {
		return nil, err
	}
	bare := t.Kind() == reflect.String || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
	return func(v T) filter.Key {
		value := reflect.ValueOf(&v).Elem()
		if bare && value.Kind() == reflect.String {
			return h.String(value.String())
		}
		if bare {
			return h.Bytes(value.Bytes())
		}
		var room [64]byte
		return h.Bytes(appendValue(room[:0], value))
	}, nil
}

// checkKeyType refuses types whose values are not all there is to them. The name is
// the path to t, and within are the types on it that have others inside.
func checkKeyType(t reflect.Type, name string, within []reflect.Type) error {
	if slices.Contains(within, t) {
		return nil // is being checked
	}
	switch t.Kind() {
	case reflect.Array, reflect.Slice:
		return checkKeyType(t.Elem(), name+"[]", append(within, t))
	case reflect.Struct:
		within = append(within, t)
		for field := range t.Fields() {
			if err := checkKeyType(field.Type, name+"."+field.Name, within); err != nil {
				return err
			}
		}
		return nil
	case reflect.Pointer, reflect.UnsafePointer, reflect.Uintptr, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func:
		return fmt.Errorf("everbloom: KeyFunc: %s is of kind %s, which is no value by itself: make a key of what it leads to", name, t.Kind())
	}
	return nil
}

// appendValue appends bytes that are equal for equal values of a type and differ for
// others: strings and slices begin with their length, numbers have 8 bytes. The two
// zeros of floats are equal, and a sum with 0 makes them one.
func appendValue(b []byte, v reflect.Value) []byte {
	word := func(x uint64) []byte { return binary.LittleEndian.AppendUint64(b, x) }
	switch {
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case v.CanInt():
		return word(uint64(v.Int()))
	case v.CanUint():
		return word(v.Uint())
	case v.CanFloat():
		return word(math.Float64bits(v.Float() + 0))
	case v.CanComplex():
		b = word(math.Float64bits(real(v.Complex()) + 0))
		return word(math.Float64bits(imag(v.Complex()) + 0))
	case v.Kind() == reflect.String:
		return append(word(uint64(v.Len())), v.String()...)
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			b = appendValue(b, field)
		}
		return b
	}
	if v.Kind() == reflect.Slice {
		b = word(uint64(v.Len()))
	}
	for i := range v.Len() {
		b = appendValue(b, v.Index(i))
	}
	return b
}
