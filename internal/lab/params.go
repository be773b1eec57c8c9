package lab

import (
	"fmt"
	"reflect"
	"slices"
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
	full  any // nil: as in quick runs
}

// Full gives a parameter another value in full runs.
func (p Param) Full(values ...float64) Param {
	ints := make([]int, len(values))
	for i, v := range values {
		ints[i] = int(v)
	}
	switch p.Value.(type) {
	case int:
		p.full = ints[0]
	case float64:
		p.full = values[0]
	case []int:
		p.full = ints
	case []float64:
		p.full = values
	}
	return p
}

// In returns the parameters of a quick or a full run.
func (p Params) In(full bool) Params {
	out := slices.Clone(p)
	for i := range out {
		if full && out[i].full != nil {
			out[i].Value = out[i].full
		}
	}
	return out
}

// Int is a whole number.
func Int(name string, value int) Param { return Param{Name: name, Value: value} }

// Float is a number.
func Float(name string, value float64) Param { return Param{Name: name, Value: value} }

// Ints are several whole numbers, such as the sizes of a sweep.
func Ints(name string, values ...int) Param { return Param{Name: name, Value: values} }

// Floats are several numbers.
func Floats(name string, values ...float64) Param { return Param{Name: name, Value: values} }

// String gives the value as it is shown and stored.
func (p Param) String() string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(p.Value), "[]")), ", ")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

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
