package evergreen

import (
	"testing"
	"time"
)

func TestHistogramFindsQuantilesToAnEighth(t *testing.T) {
	var h histogram
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Microsecond)
	}
	for share, want := range map[float64]time.Duration{0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond, 1: time.Millisecond} {
		if got := h.quantile(share); got < want || float64(got) > 1.13*float64(want) {
			t.Errorf("quantile %v: %v, want %v or a little more", share, got, want)
		}
	}
	if h.longest != time.Millisecond || h.n != 1000 {
		t.Errorf("%v, %d", h.longest, h.n)
	}
}

func TestHistogramTakesEverything(t *testing.T) {
	var h histogram
	for _, d := range []time.Duration{-1, 0, 1, 7, 8, time.Hour, 1 << 62} {
		h.add(d)
	}
	if h.n != 7 || h.quantile(1) > h.longest {
		t.Errorf("%d, %v", h.n, h.quantile(1))
	}
	for d := time.Duration(8); d < time.Hour; d = d*9/8 + 1 {
		if c := class(d); end(c) <= d && c < len(h.counts)-1 || c > 0 && end(c-1) > d && d > 16 {
			t.Errorf("%v is in class %d, which ends at %v", d, c, end(c))
		}
	}
}
