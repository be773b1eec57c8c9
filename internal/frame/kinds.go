package frame

// The kinds that have a stored form. The numbers are on disk: do not change
// them, and never give one out again.
const (
	Bloom     Kind = 1
	Blocked   Kind = 2
	Counting  Kind = 3
	Deletable Kind = 4
	DLeft     Kind = 5
	Dynamic   Kind = 6
	Scalable  Kind = 7
	Partition Kind = 8
	Elastic   Kind = 9
	Evergreen Kind = 10
	Parallel  Kind = 11
	Perennial Kind = 12

	GateState Kind = 1000 // no filter: what a gate has learnt
)
