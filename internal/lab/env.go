package lab

import (
	"math/rand/v2"
	"runtime"
)

// Env is what an experiment gets to work with. Only Params is needed; a test of
// an experiment may write
//
//	x.Do(ctx, &lab.Env{Params: x.Quick, Seed: 1})
//
// An Env serves one run of one experiment and must not be copied.
type Env struct {
	Params  Params
	Full    bool
	Seed    uint64
	Data    string // folder with real data; empty if it has none of Experiment.Data
	Workers int    // 0: as many as there are processors

	// OnProgress is told the share of the work that is done. It is called from
	// several goroutines.
	OnProgress func(share float64)

	calls       uint64 // of Trials
	done, total int    // steps, see Progress
	part, parts int    // see Part
}

// Int returns a parameter that was declared with [Int]. Like the other getters it
// panics if there is none: the experiment is wrong.
func (e *Env) Int(name string) int { return find[int](e.Params, name) }

// Float returns a parameter that was declared with [Float].
func (e *Env) Float(name string) float64 { return find[float64](e.Params, name) }

// Text returns a parameter that was declared with [Text].
func (e *Env) Text(name string) string { return find[string](e.Params, name) }

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

// Progress says that so many of the experiment's steps are done. The trials of
// [Trials] move on from there to the next step by themselves. It is called by the
// goroutine that runs the experiment.
func (e *Env) Progress(done, total int) {
	e.done, e.total = done, total
	e.within(0)
}

// Part says that what follows is the i-th of so many parts of the experiment, such
// as sweeps. Steps are those of the part.
func (e *Env) Part(i, parts int) { e.part, e.parts = i, parts }

// within reports progress inside the current step.
func (e *Env) within(share float64) {
	if e.OnProgress != nil {
		step := min(1, (float64(e.done)+share)/float64(max(e.total, 1)))
		e.OnProgress((float64(e.part) + step) / float64(max(e.parts, 1)))
	}
}

// workers is how many goroutines may compute at a time.
func (e *Env) workers() int {
	if e.Workers > 0 {
		return e.Workers
	}
	return runtime.GOMAXPROCS(0)
}
