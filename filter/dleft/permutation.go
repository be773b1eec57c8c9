package dleft

import (
	"math/bits"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// A factor multiplies modulo a number m below 2^63, in two multiplications and
// no division (Shoup's method): with ratio = ⌊value·2^64/m⌋ the quotient of
// value·x/m is at most one too small.
type factor struct{ value, ratio uint64 }

func newFactor(value, m uint64) factor {
	ratio, _ := bits.Div64(value, 0, m)
	return factor{value, ratio}
}

// times returns value·x mod m, for x < m.
func (a factor) times(x, m uint64) uint64 {
	q, _ := bits.Mul64(a.ratio, x)
	y := a.value*x - q*m // less than 2m
	if y >= m {
		y -= m
	}
	return y
}

// A permutation is one P_i of [dlCBF06] Sec. 3.3 and the way back.
type permutation struct{ forth, back factor }

// permutations returns d permutations x -> a·x of the fingerprints [0, m), m even,
// for odd a that have an inverse modulo m. The first is the identity: a random
// one would only give all fingerprints other names. The others are drawn by the
// salt, all different if m has so many.
func permutations(d int, m, salt uint64) (p [maxSubtables]permutation) {
	mixer := probe.NewMixer(salt)
	h := mixer.Mix(1) // the mixer is meant for hashed keys: its own results are such
	for i := range d {
		value := uint64(1)
		for draw := 0; i > 0 && draw < maxDraws; draw++ {
			h = mixer.Mix(filter.Key(h))
			if a := probe.Reduce(h, m) | 1; coprime(a, m) && !taken(p[:i], a) {
				value = a
				break
			}
		}
		p[i] = permutation{newFactor(value, m), newFactor(inverse(value, m), m)}
	}
	return p
}

// maxDraws is reached only where all permutations are taken: of the odd numbers
// below any m of 62 bits at least one in five has an inverse.
const maxDraws = 1000

func taken(p []permutation, value uint64) bool {
	for _, one := range p {
		if one.forth.value == value {
			return true
		}
	}
	return false
}

func coprime(a, m uint64) bool {
	for m != 0 {
		a, m = m, a%m
	}
	return a == 1
}

// inverse returns the x with a·x = 1 modulo m, for a < m that has one, by the
// extended algorithm of Euclid. Its numbers stay below m in size.
func inverse(a, m uint64) uint64 {
	r0, r1 := m, a
	x0, x1 := int64(0), int64(1)
	for r1 != 0 {
		q := r0 / r1
		r0, r1 = r1, r0-q*r1
		x0, x1 = x1, x0-int64(q)*x1
	}
	if x0 < 0 {
		x0 += int64(m)
	}
	return uint64(x0)
}
