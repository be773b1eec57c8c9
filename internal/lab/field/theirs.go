package field

// A rival is a filter of others with figures measured with its authors' or maintainers'
// code, by this project, on a shared machine with two cores: rates and bits are exact,
// times good to a factor of two. Rivals are not requirements of this module, so they
// are not run here; docs/benchmarks.md has those in Go, measured beside ours.
type rival struct {
	name    string
	rate    float64
	bits    float64 // per key, at the fill in the name or at 95 %
	insert  float64 // ns
	absent  float64 // ns of a query, the middle of a range
	grows   bool
	deletes bool
}

// theirs are in order of their bits. Fingerprint filters and fuse filters as in
// fastfilter_cpp (1 or 10 million keys), or, marked so, in Go with a million keys.
var theirs = []rival{
	{"binary fuse, 8 bits (Go)", 0.00389, 9.0, 80, 6.8, false, false},
	{"binary fuse, 8 bits", 0.00388, 9.02, 52, 5.6, false, false},
	{"xor, 8 bits (Go)", 0.00384, 9.9, 114, 8.0, false, false},
	{"cuckoo, 9 bits (Go)", 0.00751, 10.5, 133, 52, false, true},
	{"split block, 256 bits", 0.00944, 10.67, 3.6, 4.5, false, false},
	{"prefix", 0.00393, 11.48, 21, 18, false, false},
	{"vector quotient", 0.00435, 11.47, 39, 21, false, true},
	{"cuckoo, 12 bits", 0.00182, 12.77, 44, 9.6, false, true},
	{"cuckoo, semi-sorted, 13 bits", 0.000915, 12.77, 238, 67, false, true},
	{"InfiniFilter, fullest, tenth doubling", 0.0093, 16.46, 330, 170, true, true},
	{"Aleph, fullest, tenth doubling", 0.0093, 16.46, 440, 160, true, true},
	{"cuckoo, 16 bits (Go)", 0.000108, 16.8, 59, 24, false, true},
	{"counting quotient", 0.00233, 17.03, 238, 150, false, true},
	{"Taffy cuckoo", 0.0021, 36.4, 360, 98, true, false},
	{"Taffy block", 0.0028, 43, 17, 82, true, false},
}
