package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
)

// Env is what an experiment gets to work with. Only Params is needed; a test of
// an experiment may write
//
//	x.Do(ctx, &lab.Env{Params: x.Params, Seed: 1})
//
// An Env serves one run of one experiment and must not be copied.
type Env struct {
	Params  Params
	Full    bool
	Seed    uint64
	Data    string // folder with real data; empty if it has none of Experiment.Data
	Workers int    // 0: as many as there are processors

	calls uint64 // of Trials
}

// Int returns a parameter that was declared with [Int]. Like the other getters it
// panics if there is none: the experiment is wrong.
func (e *Env) Int(name string) int { return find[int](e.Params, name) }

// Float returns a parameter that was declared with [Float].
func (e *Env) Float(name string) float64 { return find[float64](e.Params, name) }

// Ints returns a parameter that was declared with [Ints].
func (e *Env) Ints(name string) []int { return find[[]int](e.Params, name) }

// Floats returns a parameter that was declared with [Floats].
func (e *Env) Floats(name string) []float64 { return find[[]float64](e.Params, name) }

// Rand returns a random source of its own for each stream. Equal seeds and
// streams give equal numbers.
func (e *Env) Rand(stream uint64) *rand.Rand { return e.source(0, stream) }

// source derives the sources of Rand, family 0, and of the calls of Trials.
func (e *Env) source(family, stream uint64) *rand.Rand {
	high := scramble(scramble(e.Seed) + family)
	return rand.New(rand.NewPCG(high, scramble(high+stream)))
}

// scramble is a bijection under which neighbours have nothing in common: the
// finisher of SplitMix64.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Trials runs n independent trials on all workers and returns their results in
// order. Every trial has a random source of its own, which depends on the seed,
// on the trial's number and on how often Trials was called before: two calls in
// one experiment use different numbers. It is called by the goroutine that runs
// the experiment. The first failure ends the other trials and is returned.
func Trials[T any](ctx context.Context, e *Env, n int, trial func(i int, r *rand.Rand) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.calls++
	var (
		out  = make([]T, max(n, 0))
		next atomic.Int64
		crew sync.WaitGroup
	)
	for range min(cmp.Or(e.Workers, runtime.GOMAXPROCS(0)), n) {
		crew.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				result, err := trial(i, e.source(e.calls, uint64(i)))
				if err != nil {
					cancel(err)
					return
				}
				out[i] = result
			}
		})
	}
	crew.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// RandomKeys returns n keys of a perfect hash.
func RandomKeys(r *rand.Rand, n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(r.Uint64())
	}
	return keys
}

// AddAll adds keys to a filter that was just built, if that is no error.
func AddAll(f filter.Filter, built error, keys []filter.Key) error {
	if built != nil {
		return built
	}
	_, _, err := filter.AddBatch(f, keys)
	return err
}

// CountYes counts the keys that f may contain.
func CountYes(f filter.Filter, keys []filter.Key) (yes int) {
	for _, k := range keys {
		if f.MayContain(k) {
			yes++
		}
	}
	return yes
}

// YesShare is the share of the keys that f may contain, 0 of none.
func YesShare(f filter.Filter, keys []filter.Key) float64 {
	return float64(CountYes(f, keys)) / float64(max(1, len(keys)))
}

// OneIf is 1 for what happened in a trial, so that the mean of trials is a share.
func OneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

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

// number writes a whole number with all digits, and others with up to four.
func number(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := digits(v, 4)
	if strings.Contains(text, "e") || !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
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
