package evergreen_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/theory"
)

func near(t *testing.T, where string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.6g, want %.6g ± %.2g", where, got, want, tolerance)
	}
}

// TestSawtooth follows the bits per key over one doubling and compares with what
// growing a block at a time was chosen for.
func TestSawtooth(t *testing.T) {
	for _, c := range []struct{ fpr, least, most, mean float64 }{
		{0.01, 10.10, 13.5, 12.2},
		{0.001, 15.72, 21.6, 19.3},
	} {
		low, high, sum := math.Inf(1), 0.0, 0.0
		const points, doubling = 200, 1 << 24
		for i := range points {
			n := doubling * math.Exp2(float64(i)/points)
			bits := evergreen.Blocks(n, c.fpr, 1) * theory.BlockBits / n
			low, high, sum = min(low, bits), max(high, bits), sum+bits
		}
		near(t, fmt.Sprintf("least bits per key at %g", c.fpr), low, c.least, 0.03)
		near(t, fmt.Sprintf("most bits per key at %g", c.fpr), high, c.most, 0.1)
		near(t, fmt.Sprintf("mean over a doubling at %g", c.fpr), sum/points, c.mean, 0.05)
	}
}

// TestRateOfWholePowersIsThatOfBlockedFilters has no split blocks, or no others.
func TestRateOfWholePowersIsThatOfBlockedFilters(t *testing.T) {
	for _, load := range []float64{10, 32.6, 50.7} {
		near(t, "a power of two", evergreen.Rate(load*4096, 4096, 1), theory.BlockedFPR(load, 1), 1e-12)
		near(t, "all but one", evergreen.Rate(load*4096, 4095, 1), theory.BlockedFPR(load, 1), 1e-3)
	}
}

func TestBlocksAreTheFewestThatWillDo(t *testing.T) {
	for _, n := range []float64{1, 1e4, 3e4, 1e6, 5e7} {
		for _, f := range []float64{0.3, 0.01, 1e-5} {
			b := evergreen.Blocks(n, f, 1)
			if evergreen.Rate(n, b, 1) > f || b > 256 && evergreen.Rate(n, b-1, 1) <= f {
				t.Errorf("%g keys at %g: %g blocks give %g, one fewer %g", n, f, b, evergreen.Rate(n, b, 1), evergreen.Rate(n, b-1, 1))
			}
		}
	}
}

// TestCompactLimits has the doublings after which fingerprints of each width are
// exhausted, and the keys that there are then.
func TestCompactLimits(t *testing.T) {
	for _, c := range []struct {
		fpr       float64
		width     int
		doublings float64
		keys      float64
	}{{0.01, 32, 16, 1.1e9}, {0.001, 32, 13, 1.1e8}, {0.01, 24, 8, 4.3e6}, {0.001, 24, 5, 4.3e5}} {
		s, err := evergreen.Config{FPR: c.fpr, Width: c.width}.Shape()
		if err != nil {
			t.Fatal(err)
		}
		got := math.Log2(evergreen.Blocks(float64(s.Capacity()), c.fpr, 1) / 256)
		near(t, fmt.Sprintf("doublings of %d bits at %g", c.width, c.fpr), got, c.doublings, 1)
		near(t, fmt.Sprintf("keys of %d bits at %g", c.width, c.fpr), float64(s.Capacity()), c.keys, c.keys/100)
	}
}

// sizes returns numbers of keys at equal ratios.
func sizes(from, to float64, count int) (all []int) {
	for i := range count {
		all = append(all, int(from*math.Pow(to/from, float64(i)/float64(count-1))))
	}
	return all
}

// TestRateAndMemoryAreHeldAtEverySize grows a filter and shrinks it again, and
// looks at the rate and the memory on the way.
func TestRateAndMemoryAreHeldAtEverySize(t *testing.T) {
	effort.PlainOnly(t)
	most, points := effort.Pick(150_000.0, 1e6), effort.Pick(6, 30)
	for _, c := range []struct {
		config                     evergreen.Config
		growing, shrinking, memory float64 // bits per key at most: fast in both directions, and all
	}{
		{evergreen.Config{FPR: 0.01}, 13.6, 14.6, 90},
		{evergreen.Config{FPR: 0.001}, 22.4, 24, 98},
		{evergreen.Config{FPR: 0.01, Width: 32}, 13.6, 14.6, 58},
		{evergreen.Config{FPR: 0.001, Width: 32}, 22.4, 24, 70},
	} {
		w := &walk{T: t, f: filtertest.Make(t, evergreen.New, c.config), asked: c.config.FPR, memory: c.memory}
		steps := sizes(1000, most, points)
		for _, n := range steps {
			w.goTo(n)
			w.look(c.growing)
		}
		for i := range steps {
			w.goTo(steps[len(steps)-1-i])
			w.look(c.shrinking)
		}
	}
}

// A walk is a filter with the first keys of a stream.
type walk struct {
	*testing.T
	f      *evergreen.Filter
	asked  float64
	memory float64
	stream filtertest.Stream
	n      int
}

// goTo adds or deletes keys until there are n.
func (w *walk) goTo(n int) {
	w.Helper()
	for ; w.n < n; w.n++ {
		if _, err := w.f.Add(w.stream.Present(uint64(w.n))); err != nil {
			w.Fatal(err)
		}
	}
	for ; w.n > n; w.n-- {
		if err := w.f.Delete(w.stream.Present(uint64(w.n - 1))); err != nil {
			w.Fatal(err)
		}
	}
}

// look measures. The spread of the measurement is allowed on top of the bounds.
func (w *walk) look(fast float64) {
	w.Helper()
	info := w.f.Info()
	if info.Keys != uint64(w.n) {
		w.Errorf("%d keys, want %d", info.Keys, w.n)
	}
	probes := int(1000 / w.asked)
	hits := filtertest.MeasureRate(w.f, w.stream, probes)
	lowest := 0.7 * w.asked
	if w.n < 20_000 {
		lowest = 0
	}
	least, _ := theory.BinomialInterval(float64(probes), lowest, 3)
	_, most := theory.BinomialInterval(float64(probes), 1.05*w.asked, 3)
	if h := float64(hits); h < least || h > most {
		w.Errorf("%d keys: rate %g, asked %g, estimated %g", w.n, h/float64(probes), w.asked, info.FPR)
	}
	bits := float64(info.FastBits) / float64(w.n)
	if w.n > 20_000 && bits > fast {
		w.Errorf("%d keys at %g: %.2f fast bits per key, want %g at most", w.n, w.asked, bits, fast)
	}
	if w.n > 100_000 && info.BitsPerKey() > w.memory {
		w.Errorf("%d keys at %g: %.2f bits per key, want %g at most", w.n, w.asked, info.BitsPerKey(), w.memory)
	}
	for i := 0; i < w.n; i += 1 + w.n/5000 {
		if k := w.stream.Present(uint64(i)); !w.f.MayContain(k) {
			w.Fatalf("%d keys: %#x is absent", w.n, k)
		}
	}
}

// TestPredictionsComeTrue compares filters that grew with what was predicted.
func TestPredictionsComeTrue(t *testing.T) {
	effort.OneGoroutine(t)
	for _, c := range []evergreen.Config{{FPR: 0.01}, {FPR: 0.001}, {FPR: 1e-5, Width: 40}, {FPR: 0.1, Width: 24}} {
		f := filtertest.Make(t, evergreen.New, c)
		for _, n := range []uint64{0, 400, 1000, 40_000, 100_000} {
			f.AddBatch(filtertest.Keys(1, n)[f.Len():])
			p, info := filtertest.Make(t, f.Shape().Predict, n), f.Info()
			fast, slow := p.FastBitsPerKey*float64(max(n, 1)), p.SlowBitsPerKey*float64(max(n, 1))
			near(t, fmt.Sprintf("%+v, %d keys: fast bits", c, n), float64(info.FastBits)/fast, 1, 0.03)
			near(t, fmt.Sprintf("%+v, %d keys: slow bits", c, n), float64(info.SlowBits)/max(1, slow), min(1, slow), 0.12)
			near(t, fmt.Sprintf("%+v, %d keys: rate", c, n), info.FPR/c.FPR, p.FPR/c.FPR, 0.05)
		}
	}
}

// TestNarrowFingerprintsAreRefusedInTime fills filters whose fingerprints are soon
// exhausted. The rate must still be kept at the end, ErrFull must be repeated and
// change nothing, and a key that is deleted makes room again.
func TestNarrowFingerprintsAreRefusedInTime(t *testing.T) {
	effort.PlainOnly(t)
	for _, s := range []evergreen.Shape{
		{FPR: 0.01, Hashes: 8, Width: 16},
		{FPR: 0.05, Hashes: 8, Width: 16},
		{FPR: 0.0002, Hashes: 8, Width: 24},
	} {
		w := &walk{T: t, f: filtertest.Make(t, evergreen.Build, s), asked: s.FPR}
		var err error
		for err == nil && w.n < 1_000_000 {
			if _, err = w.f.Add(w.stream.Present(uint64(w.n))); err == nil {
				w.n++
			}
		}
		capacity := float64(w.f.Info().Capacity)
		near(t, fmt.Sprintf("%+v is full after so many keys", s), float64(w.n)/capacity, 1, 0.02)
		before := filtertest.Stored(t, w.f)
		for i := range uint64(100) {
			if _, err := w.f.Add(filter.Key(rand.New(rand.NewPCG(i, 1)).Uint64())); err == nil {
				t.Fatalf("%+v: full, and then not", s)
			}
		}
		if string(before) != string(filtertest.Stored(t, w.f)) {
			t.Errorf("%+v: refusing changed the filter", s)
		}
		w.look(math.Inf(1))
		w.goTo(w.n - w.n/50)
		w.goTo(w.n + w.n/100)
	}
}
