package perennial

import (
	"cmp"
	"math"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/mem"
	"github.com/everbloom-go/everbloom/internal/sizing"
)

// Config asks for a rate that holds while the set grows and shrinks. The zero Config asks
// for one false positive in a thousand and no room to begin with.
type Config struct {
	// Items is the number of keys there is room for from the beginning, and always: the
	// filter does not shrink below. 0 means the smallest filter, about 1 KiB.
	Items uint64

	// FPR is the rate of false positives that is kept up to Most keys, above 0 and
	// below 1; 0 means 0.001.
	FPR float64

	// Most is the largest number of keys for which the rate is kept; 0 means 2^31, or
	// Items if that is more. Beyond it the rate rises by about 4 % of the asked one with
	// each doubling. Fewer keys need fewer bits: a key takes about one bit less for each
	// factor of 50,000.
	Most uint64

	// Fill is how full the lines are kept, 0.5 to 0.94; 0 means 0.90. A lower fill makes
	// changes faster and the filter larger.
	Fill float64

	// Salt makes filters spread the same keys differently. Only filters of equal salt
	// can be merged.
	Salt uint64
}

const (
	defaultMost = 1 << 31
	defaultFill = 0.90

	minFill, maxFill   = 0.5, 0.94
	minWidth, maxWidth = 9, 40 // below 9 bits voids would multiply faster than lines
)

// Shape returns the geometry for c.
func (c Config) Shape() (Shape, error) {
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	c.Fill = cmp.Or(c.Fill, defaultFill)
	p := sizing.In("perennial")
	p.Size(c.Items, sizing.MaxItems, c.FPR)
	checkLimits(&p, c.Fill, c.Most)
	if err := p.Err(); err != nil {
		return Shape{}, err
	}
	c.Most = max(cmp.Or(c.Most, defaultMost), c.Items)
	for w := uint64(minWidth); w <= maxWidth; w++ {
		s := Shape{Width: w, Fill: c.Fill, Salt: c.Salt, Most: c.Most, FPR: c.FPR}
		s.Lines = s.linesFor(c.Items)
		if s.rate(c.Most) <= c.FPR {
			return s, nil
		}
	}
	p.Addf("FPR: %g, at least %.2g for up to %d keys", c.FPR, Shape{Width: maxWidth, Fill: c.Fill, Lines: minLines}.rate(c.Most), c.Most)
	return Shape{}, p.Err()
}

// Shape is the geometry of a [Filter].
type Shape struct {
	Lines uint64  // at least, of 64 bytes
	Width uint64  // bits of a slot
	Fill  float64 // of lines
	FPR   float64 // that was asked for
	Most  uint64  // keys up to which it is kept
	Salt  uint64
}

func (s Shape) check() error {
	p := sizing.In("perennial")
	sizing.Between(&p, "Lines", s.Lines, minLines, maxLines)
	sizing.Between(&p, "Width", s.Width, minWidth, maxWidth)
	p.Rate(s.FPR, 0, 0)
	checkLimits(&p, s.Fill, s.Most)
	return p.Err()
}

// checkLimits is for what a Config and a Shape have in common.
func checkLimits(p *sizing.Problems, fill float64, most uint64) {
	if !(fill >= minFill && fill <= maxFill) {
		p.Addf("Fill: %g, must be %g to %g", fill, minFill, maxFill)
	}
	if most > sizing.MaxItems {
		p.Addf("Most: %d, at most %d", most, uint64(sizing.MaxItems))
	}
}

// The first smallLines of a ring are filled by smallFill more than the others: the directory
// and the last step of the memory weigh more in small rings, and spilling costs less in
// them, because they are in the cache.
const (
	smallLines = 4096
	smallFill  = 0.0125
)

// room returns how many slots a ring of so many lines is for.
func (s Shape) room(y layout) float64 {
	free := float64(y.total)*(lineBits*s.Fill-headBits) - float64(y.buckets())
	if s.Fill < maxFill {
		free += lineBits * min(smallFill, maxFill-s.Fill) * float64(min(y.total, smallLines))
	}
	return free / float64(s.Width+1)
}

// linesFor returns how many lines so many keys need.
func (s Shape) linesFor(keys uint64) uint64 {
	low, high := uint64(minLines), keys/4+2*minLines // a line has room for more than four
	for low < high {
		if n := low + (high-low)/2; s.room(layoutOf(n)) < float64(keys) {
			low = n + 1
		} else {
			high = n
		}
	}
	return low
}

// rate returns the expected rate with n keys that were added one after the other.
//
// A key that is added where buckets have A bits covers 2^-(A+w-1) of all keys, and that
// does not change when the filter grows.
func (s Shape) rate(n uint64) float64 {
	var sum float64
	for at := float64(0); at < float64(n); {
		lines := max(s.linesFor(uint64(at)+1), s.Lines)
		y := layoutOf(lines)
		// To the end of the pass: all groups have one more line then.
		end := s.room(layoutOf(min(uint64(y.lines+1)<<y.level, maxLines)))
		if end <= at { // there is no larger ring
			end = float64(n)
		}
		end = min(end, float64(n))
		each := math.Ldexp(1, -int(y.level)-bucketLog-int(s.Width-1))
		if y.splits() {
			done := float64(y.next) / math.Ldexp(1, int(y.level))
			whole := s.room(layoutOf(uint64(y.lines+1)<<y.level)) - s.room(layoutOf(uint64(y.lines)<<y.level))
			each *= 1 - min(1, done+(end-at)/whole/2)/2
		}
		sum += (end - at) * each
		at = end
	}
	return min(1, sum)
}

// Predict says what a filter of this shape will be like with n keys, of which none was
// deleted.
func (s Shape) Predict(n uint64) (filter.Prediction, error) {
	if err := s.check(); err != nil {
		return filter.Prediction{}, err
	}
	lines := max(s.linesFor(n), s.Lines)
	bits := 8*mem.LinesBytes(lines) + 32*sequencesFor(layoutOf(lines))
	return filter.Prediction{
		FastBitsPerKey: filter.PerKey(float64(bits), n),
		FPR:            s.rate(n),
		HitLines:       s.linesRead(),
		MissLines:      s.linesRead(),
	}, nil
}

// linesRead returns how many lines a query reads: measured, at fills of 0.86 to 0.92.
func (s Shape) linesRead() float64 { return 1 + 0.13*math.Exp2((s.Fill-0.90)/0.045) }

// sequencesFor returns how many sequence numbers a ring has.
func sequencesFor(y layout) uint64 { return min(max(uint64(1)<<y.level>>5, 1), maxSequences) }
