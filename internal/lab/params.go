package lab

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Params are the parameters of an experiment in the order in which they are
// shown. They are made by [Int], [Float], [Ints] and [Floats].
type Params []Param

// Param is a name with an int, float64, []int or []float64.
type Param struct {
	Name  string
	Value any
}

// Int is a whole number.
func Int(name string, value int) Param { return Param{name, value} }

// Float is a number.
func Float(name string, value float64) Param { return Param{name, value} }

// Ints are several whole numbers, such as the sizes of a sweep.
func Ints(name string, values ...int) Param { return Param{name, values} }

// Floats are several numbers.
func Floats(name string, values ...float64) Param { return Param{name, values} }

// String gives the value as it is shown and stored.
func (p Param) String() string {
	switch v := p.Value.(type) {
	case float64:
		return number(v)
	case []int:
		return list(v, strconv.Itoa)
	case []float64:
		return list(v, number)
	default:
		return fmt.Sprint(v)
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func list[T any](values []T, text func(T) string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = text(v)
	}
	return strings.Join(texts, ", ")
}

// find returns the value of a parameter. An experiment that asks for one it does
// not declare is wrong, whatever the input.
func find[T any](p Params, name string) T {
	for _, param := range p {
		if v, ok := param.Value.(T); ok && param.Name == name {
			return v
		}
	}
	panic(fmt.Sprintf("lab: the experiment declares no parameter %q of type %s", name, reflect.TypeFor[T]()))
}

// sameForm reports parameters without a name or there twice, those of other types, and
// sets that differ in more than their values.
func sameForm(quick, full Params) error {
	if len(quick) != len(full) {
		return fmt.Errorf("%d quick parameters, %d full ones", len(quick), len(full))
	}
	seen := map[string]bool{}
	for i, q := range quick {
		f := full[i]
		switch q.Value.(type) {
		case int, float64, []int, []float64:
		default:
			return fmt.Errorf("parameter %q has the type %T", q.Name, q.Value)
		}
		if q.Name == "" || seen[q.Name] {
			return fmt.Errorf("parameter %q is without a name or there twice", q.Name)
		}
		if q.Name != f.Name || reflect.TypeOf(q.Value) != reflect.TypeOf(f.Value) {
			return fmt.Errorf("quick parameter %q of type %T is %q of type %T in full runs", q.Name, q.Value, f.Name, f.Value)
		}
		seen[q.Name] = true
	}
	return nil
}
