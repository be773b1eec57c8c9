package growth

import (
	"context"
	"errors"
	"testing"
)

// TestSetKeepsItsKeysItsRateAndItsMemory runs what the demo runs, at a twentieth of its size.
func TestSetKeepsItsKeysItsRateAndItsMemory(t *testing.T) {
	var seen []uint64
	r, err := Run(t.Context(), Config{Sizes: []uint64{5000, 50_000}, Absent: 100_000}, func(s Step) error {
		seen = append(seen, s.Keys)
		return nil
	})
	if err != nil || len(seen) != 3 || len(r.Steps) != 3 || seen[1] != 50_000 || seen[2] != 5000 {
		t.Fatalf("%v, steps %v", err, seen)
	}
	if r.Lost() != 0 || r.Worst() > 0.0115 || r.Peak().Keys != 50_000 { // 5 standard deviations above 1 %
		t.Errorf("%d keys lost, rate %g, peak %d", r.Lost(), r.Worst(), r.Peak().Keys)
	}
	up, down := r.Steps[0], r.Steps[2]
	if down.Bits > 1.1*up.Bits || up.Shrinking || !down.Shrinking {
		t.Errorf("%.1f bits per key on the way up, %.1f on the way down", up.Bits, down.Bits)
	}
	if r.Steps[1].Fixed < 0.9 || down.Fixed != 0 {
		t.Errorf("a standard filter of a tenth of the size: rate %g, then %g", r.Steps[1].Fixed, down.Fixed)
	}
}

func TestRunEndsWhenInterruptedOrWhenItsReaderFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	small := Config{Sizes: []uint64{100, 200}, Absent: 1}
	broken := errors.New("broken")
	if r, err := Run(ctx, small, func(Step) error { return broken }); !errors.Is(err, broken) || len(r.Steps) != 1 {
		t.Errorf("%d steps, %v", len(r.Steps), err)
	}
	cancel()
	if r, err := Run(ctx, small, func(Step) error { return nil }); !errors.Is(err, context.Canceled) || len(r.Steps) != 0 {
		t.Errorf("%d steps, %v", len(r.Steps), err)
	}
}

func TestHeapOfCountsWhatIsKept(t *testing.T) {
	if n := HeapOf(func() []byte { return make([]byte, 8<<20) }); n < 7<<20 || n > 10<<20 {
		t.Errorf("8 MiB are %d bytes", n)
	}
}
