package dlbf10

import "math"

// fluid predicts what becomes of a large filter while keys are replaced. Time is
// in turnovers: one turnover replaces as many keys as there are.
//
// A region that is clean and has j of its s cells set belongs to live keys only,
// one per set cell: keys that could not be deleted have no bit there. So in dt
//
//	a set cell is cleared        j dt          its key is deleted
//	a clear cell is set          a (s - j) dt  a = kn/m', hits per cell and turnover
//	the region is marked         a j dt        a hit on a set cell
//
// which is a Markov chain with an end. The same chain, with a cell that stays, is
// that of the region around one position of a key while the key lives; a cohort
// are the keys added at one time. The mean over the cohorts is the deletability.
// Exact in the limit of many cells.
type fluid struct {
	cells int     // s
	hits  float64 // a
	k     float64

	clean   []float64 // share of regions that are clean with j set cells
	cohorts []cohort

	half, change []float64 // scratch of move
}

// cohort is a share of the keys with what is known about each of their positions.
type cohort struct {
	weight float64
	region []float64 // probability that the position is alone in a clean region with j set cells
}

// newFluid starts after n keys were added in a row.
func newFluid(v numbers) *fluid {
	f := &fluid{cells: int(v.s), hits: v.k * v.n / v.cells, k: v.k}
	zero, once := math.Exp(-f.hits), f.hits*math.Exp(-f.hits)
	f.clean = binomialTerms(f.cells, once, zero)
	// The key's own cell has no other hit, the others of the region one at most.
	own := append([]float64{0}, binomialTerms(f.cells-1, once, zero)...)
	for j := range own {
		own[j] *= zero
	}
	f.cohorts = []cohort{{1, own}}
	f.half, f.change = make([]float64, f.cells+1), make([]float64, f.cells+1)
	return f
}

// binomialTerms returns C(n, j) p^j q^(n-j) for all j.
func binomialTerms(n int, p, q float64) []float64 {
	terms := make([]float64, n+1)
	for j := range terms {
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
		terms[j] = math.Exp(lg(n) - lg(j) - lg(n-j) + float64(j)*math.Log(p) + float64(n-j)*math.Log(q))
	}
	return terms
}

// fluidStep is small against every rate of a region of some dozen cells.
const fluidStep = 1.0 / 32

// oldest is after how many turnovers hardly any key is left of a cohort: 4 in a
// million.
const oldest = 12.5

// advance lets the given number of turnovers pass, in whole steps.
func (f *fluid) advance(turnovers float64) {
	for range int(math.Round(turnovers / fluidStep)) {
		// Those that come within the step come in its middle.
		f.move(f.clean, 0, fluidStep/2)
		born := f.birth()
		f.move(born, 1, fluidStep/2)
		f.move(f.clean, 0, fluidStep/2)
		if len(f.cohorts) > oldest/fluidStep {
			f.cohorts = f.cohorts[1:]
		}
		for i := range f.cohorts {
			c := &f.cohorts[i]
			c.weight *= math.Exp(-fluidStep)
			f.move(c.region, 1, fluidStep)
		}
		f.cohorts = append(f.cohorts, cohort{-math.Expm1(-fluidStep), born})
	}
}

// birth is where a position of a new key falls: on a clear cell of a clean region,
// or it is of no use.
func (f *fluid) birth() []float64 {
	region := make([]float64, f.cells+1)
	for j := range f.cells {
		region[j+1] = f.clean[j] * float64(f.cells-j) / float64(f.cells)
	}
	return region
}

// move is one step of the midpoint rule for a region of which so many cells stay.
func (f *fluid) move(region []float64, stay int, dt float64) {
	f.slope(f.change, region, stay)
	for j := range f.half {
		f.half[j] = region[j] + f.change[j]*dt/2
	}
	f.slope(f.change, f.half, stay)
	for j := range region {
		region[j] += f.change[j] * dt
	}
}

// slope sets d to the chain's change per turnover.
func (f *fluid) slope(d, region []float64, stay int) {
	clear(d)
	for j, p := range region {
		cleared := float64(max(0, j-stay)) * p
		filled := f.hits * float64(f.cells-j) * p
		d[j] -= cleared + filled + f.hits*float64(j)*p
		if j > 0 {
			d[j-1] += cleared
		}
		if j < f.cells {
			d[j+1] += filled
		}
	}
}

// deletable is the expected share of the live keys that can be deleted. The
// positions of one key are independent, given its age.
func (f *fluid) deletable() (share float64) {
	for _, c := range f.cohorts {
		share += c.weight * -math.Expm1(f.k*math.Log1p(-min(1, sum(c.region))))
	}
	return share
}

// cleanShare is the expected share of clean regions.
func (f *fluid) cleanShare() float64 { return sum(f.clean) }

func sum(list []float64) (total float64) {
	for _, v := range list {
		total += v
	}
	return total
}

// halfLife returns after how many turnovers less than half of the keys can be
// deleted, at most limit. Between two looks it interpolates.
func halfLife(v numbers, limit float64) float64 {
	const between = 4 * fluidStep
	f := newFluid(v)
	last := f.deletable()
	if last < 0.5 {
		return 0
	}
	for t := 0.0; t < limit; t += between {
		f.advance(between)
		now := f.deletable()
		if now < 0.5 {
			return t + between*(last-0.5)/(last-now)
		}
		last = now
	}
	return limit
}
