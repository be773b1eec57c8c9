package timing

import "time"

// A Lap names a contender and its work.
type Lap [2]string

// Turns sums the times of contenders in one round.
type Turns struct {
	clock Clock
	took  map[Lap]time.Duration
	ops   map[Lap]int
}

// NewTurns times by clock: [Thread] for work on one thread, else [Wall].
func NewTurns(clock Clock) *Turns {
	return &Turns{clock: clock, took: map[Lap]time.Duration{}, ops: map[Lap]int{}}
}

// Time adds the time that run takes for so many operations.
func (t *Turns) Time(at Lap, ops int, run func()) {
	Pinned(func() {
		start := t.clock()
		run()
		t.took[at] += t.clock() - start
		t.ops[at] += ops
	})
}

// Ops is the number of operations timed.
func (t *Turns) Ops(at Lap) int { return t.ops[at] }

// Nanos is the mean time of an operation, pauses included.
func (t *Turns) Nanos(at Lap) float64 {
	return float64(t.took[at].Nanoseconds()) / float64(max(t.ops[at], 1))
}

// Rounds collects the times of an operation in ns, one for each round.
type Rounds map[Lap][]float64

// Add adds a round.
func (r Rounds) Add(t *Turns) {
	for at := range t.took {
		r[at] = append(r[at], t.Nanos(at))
	}
}

// Nanos is the median over the rounds, 0 if there was no such work.
func (r Rounds) Nanos(contender, work string) float64 {
	if samples := r[Lap{contender, work}]; len(samples) > 0 {
		return Median(samples)
	}
	return 0
}

// Speedup is how many times as fast as another a contender is, in the median round.
func (r Rounds) Speedup(contender, other, work string) float64 {
	return Ratio(r[Lap{other, work}], r[Lap{contender, work}])
}
