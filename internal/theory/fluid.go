package theory

import "math"

// A fluid is the state of the differential equations of [DLeftInsertLoads] and
// [DLeftSteadyLoads]: x_ji for subtables j from 0 and loads i from 0, where it is 1,
// to levels+1, where it is 0.
type fluid struct {
	d      int
	levels int
	load   float64
	leave  float64 // deletions per key and time: 0, or 1/(d·load)
	x      []float64
}

// newFluid returns empty subtables. Levels above those asked for are followed as
// far as any share of buckets gets there.
func newFluid(d int, load float64, levels int) *fluid {
	levels = max(levels, int(load+10*math.Sqrt(load))) + 4
	f := &fluid{d: d, levels: levels, load: load, x: make([]float64, d*(levels+2))}
	for j := range d {
		f.x[j*(levels+2)] = 1
	}
	return f
}

func (f *fluid) at(j, i int) float64 { return f.x[j*(f.levels+2)+i] }

// mean returns the share of all buckets that hold at least 1, 2, … levels.
func (f *fluid) mean(levels int) []float64 {
	out := make([]float64, levels)
	for i := range out {
		for j := range f.d {
			out[i] += f.at(j, i+1) / float64(f.d)
		}
	}
	return out
}

// insert follows the insertions up to the load.
func (f *fluid) insert() *fluid {
	end := float64(f.d) * f.load
	steps := math.Ceil(end * 32)
	f.run(int(steps), end/max(1, steps))
	return f
}

// steady follows deletions and insertions until nothing changes any more. All
// differences fade at least as fast as e^(-leave·t). Where it ends does not depend
// on the step, as long as that is small enough not to overshoot.
func (f *fluid) steady() *fluid {
	if f.load == 0 {
		return f
	}
	f.leave = 1 / (float64(f.d) * f.load)
	step := min(0.5, 1/(f.leave*float64(f.levels)))
	f.run(int(math.Ceil(32/f.leave/step)), step)
	return f
}

// run takes steps of the classic fourth-order method of Runge and Kutta.
func (f *fluid) run(steps int, dt float64) {
	size := len(f.x)
	work := make([]float64, 5*size)
	k1, k2, k3, k4, y := work[:size], work[size:2*size], work[2*size:3*size], work[3*size:4*size], work[4*size:]
	ahead := func(k []float64, dt float64) []float64 {
		for i, v := range f.x {
			y[i] = v + dt*k[i]
		}
		return y
	}
	for range steps {
		f.slope(f.x, k1)
		f.slope(ahead(k1, dt/2), k2)
		f.slope(ahead(k2, dt/2), k3)
		f.slope(ahead(k3, dt), k4)
		for i := range f.x {
			f.x[i] += dt / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
}

// faint is a share of buckets that is none: far below what a float can square,
// far above where floats get slow.
const faint = 1e-280

// slope writes dx/dt at x. Levels that nothing has reached yet stay as they are.
func (f *fluid) slope(x, dx []float64) {
	row := f.levels + 2
	for i := 1; i <= f.levels; i++ {
		if x[i-1] < faint { // the leftmost subtable has the highest buckets
			for j := range f.d {
				clear(dx[j*row+i : (j+1)*row])
			}
			return
		}
		right := 1.0 // the product of x_k,i-1 over the subtables from j+1 on
		for j := f.d - 1; j >= 0; j-- {
			dx[j*row+i] = (x[j*row+i-1] - x[j*row+i]) * right
			right *= x[j*row+i-1]
		}
		left := 1.0 // the product of x_ki over the subtables before j
		for j := range f.d {
			dx[j*row+i] = dx[j*row+i]*left - f.leave*float64(i)*(x[j*row+i]-x[j*row+i+1])
			left *= x[j*row+i]
		}
	}
}
