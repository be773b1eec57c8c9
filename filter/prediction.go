package filter

// A Prediction is what a filter will be like with some number of keys.
type Prediction struct {
	FastBitsPerKey float64 `json:"fast_bits_per_key"` // memory that queries read
	SlowBitsPerKey float64 `json:"slow_bits_per_key"` // memory that only changes touch
	FPR            float64 `json:"fpr"`
	HitLines       float64 `json:"hit_lines"`  // cache lines read for a key that is present
	MissLines      float64 `json:"miss_lines"` // and for one that is absent, on average
	Units          float64 `json:"-"`          // filters that it consists of, for kinds of several
}

// PerKey returns the share of each of n keys in so many bits, and all bits if there
// are no keys.
func PerKey(bits float64, n uint64) float64 { return bits / float64(max(n, 1)) }
