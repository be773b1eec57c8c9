package partition

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"github.com/everbloom-go/everbloom/internal/sizing"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// Config says what is asked for. The zero Config asks for one false positive in a thousand,
// for hashed Keys, of which about a million are expected.
type Config struct {
	// Items is the number of keys that are expected; 0 means 1,000,000. It is not
	// a limit: it only decides how large a unit is and, for hashed Keys, how
	// many of their bits are kept.
	Items uint64

	// FPR is the rate of false positives that is not exceeded, above 0 and below 1;
	// 0 means 0.001. For hashed Keys that is up to 14 times Items, or 120
	// million keys if Items are fewer than 8 million.
	FPR float64

	// Universe is the number of ids: Keys are then not hashes but the ids
	// themselves, from 0 to Universe-1. 0 means hashed Keys.
	Universe uint64

	// Depth is the depth of the full tree, d; 0 leaves the choice. The
	// 2^Depth-th part of the universe is the number of ids that a unit is sized
	// for: with Universe 2^32 and Depth 22 they are 1024.
	Depth int

	// Salt makes filters of one size spread the same keys differently. Only
	// filters of equal salt can be merged.
	Salt uint64
}

const (
	// A unit is for 64 to 1024 ids, and the expected set has four or more. Larger
	// ones would make additions slower, smaller ones the walk longer.
	minUnitLog, maxUnitLog = 6, 10

	// Hashed Keys are shortened, and keys that become equal are false positives of
	// their own kind: n/2^u. That is at most a 32nd of the rate for 2^23 keys, or
	// for Items if these are more, and the units are sized for the rest. Where u would
	// be above 64, a Key has no more bits to keep, and it is a 32nd for Items only.
	floorLog  = 5
	floorKeys = 1 << 23
)

// Limits that keep all arithmetic within 64 bits; memory ends long before.
const (
	maxUnitIDs  = 16      // as a power of two
	maxUnitBits = 1 << 23 // the most that a Config asks for are some 6 million
	maxCount    = 1 << 23
	leastCount  = 16 // units split by count have at least this part of a hash's bits in ids
)

// withDefaults fills in what was left open and reports everything that is wrong.
func (c Config) withDefaults() (Config, error) {
	c.Items = cmp.Or(c.Items, sizing.Items)
	c.FPR = cmp.Or(c.FPR, sizing.FPR)
	floor := sizing.Floor(c.Items) * (1 << floorLog)
	if c.Universe > 0 {
		floor = 0
	}
	p := sizing.In("partition")
	p.Rate(c.FPR, c.Items, floor)
	if c.Universe > 0 && c.FPR > 0 && c.FPR < minFPR {
		p.Addf("FPR: %g, at least %g", c.FPR, minFPR)
	}
	p.Items(c.Items, sizing.MaxItems)
	sizing.Between(&p, "Depth", c.Depth, 0, 64)
	return c, p.Err()
}

// minFPR is the rate of 64 hashes.
const minFPR = 1e-19

// Shape returns the geometry. Where the whole tree is full, each unit
// has 2^(u-d) ids; [DPBF19] Eq. (1) gives the bits for that, and four standard
// deviations are added, so that also an unlucky unit keeps the rate.
func (c Config) Shape() (Shape, error) {
	c, err := c.withDefaults()
	if err != nil {
		return Shape{}, err
	}
	idBits, f := c.idBits(), c.FPR
	if c.Universe == 0 {
		f *= 1 - 1.0/(1<<floorLog)
	}
	depth := c.Depth
	if depth == 0 {
		depth = max(0, idBits-c.unitLog())
	}
	if depth > idBits || idBits-depth > maxUnitIDs {
		return Shape{}, fmt.Errorf("partition: Depth: %d, must be %d to %d for ids of %d bits", depth, max(0, idBits-maxUnitIDs), idBits, idBits)
	}
	k := unitHashes(f)
	m := unitBits(math.Exp2(float64(idBits-depth)), float64(k), f)
	s := Shape{
		Universe: c.Universe, IDBits: idBits, Depth: depth,
		UnitBits: uint64(m), Hashes: k, Full: uint64(mostSet(m, float64(k), f)), Salt: c.Salt,
	}
	return s, s.check()
}

// idBits returns u, the bits of an id.
func (c Config) idBits() int {
	if c.Universe > 0 {
		return bits.Len64(c.Universe - 1)
	}
	keys := math.Max(float64(c.Items), floorKeys)
	return min(64, int(math.Ceil(math.Log2(keys/c.FPR)))+floorLog)
}

// unitLog returns the ids of a unit, as a power of two.
func (c Config) unitLog() int {
	return min(max(minUnitLog, bits.Len64(c.Items/4)-1), maxUnitLog)
}

// unitHashes returns the number of hashes with which Eq. (1) asks for the fewest bits.
func unitHashes(f float64) int {
	k := min(max(1, math.Floor(-math.Log2(f))), sizing.MaxHashes-1)
	if theory.PartitionUnitBits(1000, k+1, f) < theory.PartitionUnitBits(1000, k, f) {
		k++
	}
	return int(k)
}

// mostSet returns how many of m bits may be set at rate f.
func mostSet(m, k, f float64) float64 {
	return max(1, math.Floor(m*math.Pow(f, 1/k)))
}

// unitBits returns the bits, in whole words, that keep rate f with n ids but for
// four standard deviations of the number of set bits.
func unitBits(n, k, f float64) float64 {
	m := 64 * math.Ceil(theory.PartitionUnitBits(n, k, f)/64)
	for {
		mean, spread := setBits(m, k, n)
		if mean+4*spread <= mostSet(m, k, f) || m >= maxUnitBits {
			return m
		}
		m += 64
	}
}

// setBits returns the mean and the standard deviation of the number of set bits
// among m after n ids with k hashes each, for large m.
func setBits(m, k, n float64) (mean, spread float64) {
	load := k * n / m
	unset := math.Exp(-load)
	return -m * math.Expm1(-load), math.Sqrt(m * unset * (1 - (1+load)*unset))
}

// Shape is the geometry of a [Filter]: what papers state and files store.
type Shape struct {
	Universe uint64 // number of ids, which Keys are; 0 if Keys are hashed
	IDBits   int    // u: bits of an id; the upper ones of a hashed Key
	Depth    int    // d
	UnitBits uint64 // m
	Hashes   int    // k
	Full     uint64 // most set bits of a unit; with more it splits, above Depth
	Count    uint64 // most ids of a unit; 0 if only bits count
	Salt     uint64
}

// UnitIDs returns n_t, the number of ids of a leaf at Depth: 2^(u-d).
func (s Shape) UnitIDs() uint64 { return 1 << (s.IDBits - s.Depth) }

// UnitFPR returns the rate of a unit that is as full as it may be.
func (s Shape) UnitFPR() float64 { return power(float64(s.Full)/float64(s.UnitBits), s.Hashes) }

func (s Shape) words() int { return int((s.UnitBits + 63) / 64) }

// shift returns how many bits of a Key are not part of the id.
func (s Shape) shift() uint {
	if s.Universe > 0 {
		return 0
	}
	return uint(64 - s.IDBits)
}

func (s Shape) lastID() uint64 {
	if s.Universe > 0 {
		return s.Universe - 1
	}
	return ^uint64(0) >> s.shift()
}

func (s Shape) check() error {
	p := sizing.In("partition")
	if s.IDBits < 0 || s.IDBits > 64 || s.Universe == 0 && s.IDBits == 0 {
		p.Addf("IDBits: %d, must be 1 to 64", s.IDBits)
	} else if want := bits.Len64(s.Universe - 1); s.Universe > 0 && want != s.IDBits {
		p.Addf("IDBits: %d, want %d for a universe of %d", s.IDBits, want, s.Universe)
	}
	if p.None() && (s.Depth < 0 || s.Depth > s.IDBits || s.IDBits-s.Depth > maxUnitIDs) {
		p.Addf("Depth: %d, must be %d to %d for ids of %d bits", s.Depth, max(0, s.IDBits-maxUnitIDs), s.IDBits, s.IDBits)
	}
	sizing.Between(&p, "UnitBits", s.UnitBits, 1, maxUnitBits)
	sizing.Between(&p, "Hashes", s.Hashes, 1, sizing.MaxHashes)
	// Units that split while they are nearly empty would multiply the memory of a set.
	if least := max(1, s.UnitBits/4); s.Full < least || s.Full > s.UnitBits {
		p.Addf("Full: %d, must be %d to %d, a quarter to all of the bits of a unit", s.Full, least, s.UnitBits)
	}
	if s.Count > maxCount || s.Count > 0 && s.UnitBits > leastCount*uint64(max(0, s.Hashes))*s.Count {
		p.Addf("Count: %d, must be 0, or up to %d and at least a %dth of a hash's bits of a unit", s.Count, maxCount, leastCount)
	}
	return p.Err()
}
