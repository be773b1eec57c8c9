package kinds

import (
	"io"
	"math"
	"sync/atomic"

	"github.com/everbloom-go/everbloom/filter"
)

// Config is what every kind can be asked for.
type Config struct {
	Items uint64  // keys the filter is made for; 0 means the kind's default
	FPR   float64 // false-positive rate; 0 means the kind's default

	SlowFile string // path for slow memory; kinds that have none there ignore it
}

// A Maker makes filters of one kind, reads them back and predicts what they are like.
type Maker struct {
	New  func(Config) (filter.Filter, error)
	Read func(io.Reader) (filter.Filter, error)

	// Predict says what a filter made for a Config will be like when it holds n keys.
	// It is an error if it cannot be made, or cannot hold so many.
	Predict func(c Config, n uint64) (filter.Prediction, error)

	// Type is a nil pointer of the concrete type.
	Type filter.Filter
}

// made returns the Maker of the filters F that are made for a C.
func made[C any, F filter.Filter](
	config func(Config) C, newF func(C) (F, error), read func(io.Reader) (F, error),
	predict func(C, uint64) (filter.Prediction, error),
) Maker {
	var none F
	return Maker{
		New:  func(c Config) (filter.Filter, error) { return orNil(newF(config(c))) },
		Read: func(src io.Reader) (filter.Filter, error) { return orNil(read(src)) },
		Predict: remembered(func(c Config, n uint64) (filter.Prediction, error) {
			return predict(config(c), n)
		}),
		Type: none,
	}
}

// slowly returns the ReadSlow of the filters F.
func slowly[F filter.Filter](read func(io.Reader, string) (F, error)) func(io.Reader, string) (filter.Filter, error) {
	return func(src io.Reader, slowFile string) (filter.Filter, error) { return orNil(read(src, slowFile)) }
}

// orNil returns f, or a nil interface in case of an error.
func orNil[F filter.Filter](f F, err error) (filter.Filter, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// shaped returns the prediction for a C by that of its shape.
func shaped[C any, S interface {
	Predict(n uint64) (filter.Prediction, error)
}](shape func(C) (S, error)) func(C, uint64) (filter.Prediction, error) {
	return func(c C, n uint64) (filter.Prediction, error) {
		s, err := shape(c)
		if err != nil {
			return filter.Prediction{}, err
		}
		return s.Predict(n)
	}
}

type predictor = func(Config, uint64) (filter.Prediction, error)

// remembered returns a predict that keeps a few of its results: some predictions
// take a millisecond, and programs ask for few sizes. Readers do not wait.
func remembered(predict predictor) predictor {
	type entry struct {
		config Config
		n      uint64
		filter.Prediction
	}
	const slotsLog = 5
	var slots [1 << slotsLog]atomic.Pointer[entry]
	return func(c Config, n uint64) (filter.Prediction, error) {
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
