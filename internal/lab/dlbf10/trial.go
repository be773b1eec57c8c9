package dlbf10

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// paperTrials is the number of trials per set of parameters in Sec. IV.
const paperTrials = 2_000

// try is a trial of Sec. IV: keys are added, and those deleted that can be. Rates are what
// absent keys show, in a standard filter as well.
func try(s deletable.Shape, keys, absent []filter.Key) (lab.Figures, error) {
	f, err := filled(s, keys)
	if err != nil {
		return nil, err
	}
	plain, err := bloom.Build(bloom.Shape{Bits: s.Bits, Hashes: s.Hashes})
	if err = lab.AddAll(plain, err, keys); err != nil {
		return nil, err
	}
	before := lab.YesShare(f, absent)
	o := deleteAll(f, keys)
	o["standard"], o["before removing"], o["after removing"] = lab.YesShare(plain, absent), before, lab.YesShare(f, absent)
	return o, nil
}

// deleteAll deletes the keys that f has and tells what became of it. False negatives are
// keys that could not be deleted and are absent nevertheless.
func deleteAll(f *deletable.Filter, keys []filter.Key) lab.Figures {
	clean, set := f.CleanRegions(), setBits(f)
	var pinned []filter.Key
	for _, k := range keys {
		if f.Delete(k) != nil {
			pinned = append(pinned, k)
		}
	}
	share, reset := 1-float64(len(pinned))/float64(len(keys)), set-setBits(f)
	return lab.Figures{
		"deletable": share, "pinned": 1 - share, "clean regions": clean, "reset bits": reset, "reset bits of the set": reset / set,
		"false negatives": float64(len(pinned) - lab.CountYes(f, pinned)),
	}
}

// setBits undoes a division, and its rounding.
func setBits(f *deletable.Filter) float64 {
	return math.Round(f.Info().Fill * float64(f.Shape().Cells()))
}

// filled returns a filter with the keys.
func filled(s deletable.Shape, keys []filter.Key) (*deletable.Filter, error) {
	f, err := deletable.Build(s)
	return f, lab.AddAll(f, err, keys)
}

// shape is that of the paper's simulation, with so many regions.
func shape(e *lab.Env, regions int) deletable.Shape {
	return deletable.Shape{Bits: uint64(e.Int("bits")), Hashes: e.Int("hashes"), Regions: uint64(regions)}
}

// sized returns a filter with density bits per key, of which one in ratio codes the
// regions.
func sized(n, k, density, ratio int) deletable.Shape {
	bits := uint64(n * density)
	return deletable.Shape{Bits: bits, Hashes: k, Regions: bits / uint64(ratio)}
}

// shareFormulas are Eq. (1), and the formula with the condition that it lacks, of the
// shape and the number of keys at a point.
func shareFormulas(of func(at lab.At) (deletable.Shape, float64)) []lab.Formula {
	formula := func(name string, share func(cells, k, n, s float64) float64) lab.Formula {
		return lab.Formula{Name: name, Unit: lab.InPercent, Of: func(at lab.At) float64 {
			s, n := of(at)
			return share(float64(s.Cells()), float64(s.Hashes), n, float64(s.RegionBits()))
		}}
	}
	return []lab.Formula{formula("Eq. (1)", theory.DeletableEq1), formula("conditioned", theory.DeletableShare)}
}

// noneLost is R2 of the paper, for any experiment that deletes.
var noneLost = lab.Claim{Name: "no false negatives after deleting", Printed: "no false negatives: R2", Where: "Sec. I", Of: lab.Of("false negatives"), Is: lab.Zero()}

// deletableAxis is that of most plots.
var deletableAxis = lab.Axis{Label: "keys that can be deleted", Percent: true, Max: 1.02}

// words are the keys of a made-up dictionary as large as the paper's.
func words(h filter.Hash) []filter.Key {
	keys := make([]filter.Key, 145_000)
	for i := range keys {
		keys[i] = h.String(fmt.Sprint("word ", i))
	}
	return keys
}

// sample draws n different keys.
func sample(r *rand.Rand, from []filter.Key, n int) (chosen []filter.Key) {
	seen := make(map[filter.Key]bool, n)
	for len(chosen) < n {
		if k := from[r.IntN(len(from))]; !seen[k] {
			seen[k] = true
			chosen = append(chosen, k)
		}
	}
	return chosen
}
