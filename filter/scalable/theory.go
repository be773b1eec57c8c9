package scalable

// UnitFPR returns the rate of unit i, counted from 0, of a filter whose rate is to
// stay below f: f/3, f/6, f/10, f/15, …, divided by the triangular numbers.
//
//	[DBF10], scalable filters: sum over i >= 0 of 2f / ((i+2)(i+3)) = f
//
// The schedule is ours. A geometric one, f(1-r)r^i, needs more memory for each
// doubling of the set, and this one less and less: see docs/papers/dbf10.md.
func UnitFPR(f float64, i int) float64 {
	return 2 * f / (float64(i+2) * float64(i+3))
}

// CompoundFPR returns the sum of the rates of the given number of units, which is
// below f for any number.
//
//	[DBF10], scalable filters: sum over i < units of 2f / ((i+2)(i+3)) = f units/(units+2)
//
// An upper bound of the expected rate of all units together, whether their answers
// depend on each other or not. The rate of one filter scatters around its
// expectation, by some percent if its first units have few blocks, and may be above
// the sum; what is left to f makes up for that.
func CompoundFPR(f float64, units int) float64 {
	return f * float64(units) / float64(units+2)
}
