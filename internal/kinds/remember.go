package kinds

import (
	"math"
	"sync/atomic"
)

// remembered returns a predict that keeps a few of its results: some predictions
// take a millisecond, and programs ask for few sizes. Readers do not wait.
func remembered(predict func(Config, uint64) (Prediction, error)) func(Config, uint64) (Prediction, error) {
	type entry struct {
		config Config
		n      uint64
		Prediction
	}
	const slotsLog = 5
	var slots [1 << slotsLog]atomic.Pointer[entry]
	return func(c Config, n uint64) (Prediction, error) {
		hash := (c.Items*0x9E3779B97F4A7C15 ^ n*0xBF58476D1CE4E5B9 ^ math.Float64bits(c.FPR)) * 0x94D049BB133111EB
		slot := &slots[hash>>(64-slotsLog)]
		if e := slot.Load(); e != nil && e.config == c && e.n == n {
			return e.Prediction, nil
		}
		p, err := predict(c, n)
		if err == nil {
			slot.Store(&entry{c, n, p})
		}
		return p, err
	}
}
