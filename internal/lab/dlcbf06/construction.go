package dlcbf06

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var construction = lab.Experiment{
	ID:       "dlcbf06/construction",
	Title:    "Why fingerprints are permuted, and why the bucket comes from the high bits",
	Question: "How often does the direct construction not know which copy to delete, does the permuted one always know, and what do low bits as buckets do?",
	Says: "Sec. 3.2: with independent choices the remainder of an element may be found in several of its buckets when it is deleted; such occurrences happen too frequently. " +
		"With permutations of one true fingerprint only one remainder corresponding to an element will exist. Sec. 3.3: using the low order bits for the buckets is less effective; " +
		"the same groups of buckets will frequently be chosen.",
	Params: lab.Params{lab.Int("trials", 10).Full(30), lab.Int("steps", 1<<16).Full(paperSteps)},
	Run:    runConstruction,
	Claims: []lab.Claim{
		{
			Name: "deletes that find several copies, independent choices", Printed: "too frequently: taken as more than one in a trial", Where: "Sec. 3.2",
			Of: lab.Of("several copies", builds, directBuild), Is: lab.Above(lab.Number(1)), Show: []lab.Pick{lab.Of("keys denied", builds, directBuild)},
		},
		{Name: "deletes that find several copies, permutations", Printed: "only one remainder will exist", Where: "Sec. 3.2", Of: lab.Of("several copies", builds, highBuild), Is: lab.Zero()},
		{Name: "keys denied, permutations", Printed: "only one remainder will exist", Where: "Sec. 3.2", Of: lab.Of("keys denied", builds, highBuild), Is: lab.Zero()},
		{Name: "trials without room for a key, low order bits for the buckets", Printed: "less effective", Where: "Sec. 3.3", Of: lab.Of("no room", builds, lowBuild), Is: lab.Above(lab.Of("no room", builds, highBuild))},
		{Name: "fingerprints that change their size", Printed: "dynamically changing the size of the fingerprint stored according to space needs", Where: "Sec. 6", Is: lab.NotMeasured("future work of the paper; perennial has fingerprints of several lengths, see perennial/size")},
		{Name: "other uses of d-left hashing", Printed: "where else could it be used effectively to improve on a scheme that calls for perfect hashing?", Where: "Sec. 6", Is: lab.NotMeasured("a question at the end of the paper")},
	},
}

const (
	builds      = "construction"
	directBuild = "independent choices"
	lowBuild    = "permuted, low bits are the bucket"
	highBuild   = "permuted, high bits are the bucket"
)

// locators are the constructions, by name.
var locators = map[string]func(*rand.Rand) locator{directBuild: independent, lowBuild: permuted(true), highBuild: permuted(false)}

func runConstruction(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	steps := e.Int("steps")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "constructions", Title: "Of so many deletions and insertions at an average load of six, per trial",
		Dims: []lab.Dim{lab.Among(builds, directBuild, lowBuild, highBuild)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			return (&sketch{locate: locators[at.Name(builds)](r)}).try(exampleKeys, steps, r)
		},
		Metrics: []lab.Metric{{Name: "no room", Unit: lab.InPercent, Asked: lab.Each(1)}, {Name: "several copies"}, {Name: "keys denied"}, {Name: "moves per thousand steps"}},
		Notes: []string{
			"Of several copies the first is deleted. If that was another key's, the other is denied from then on. A trial ends with the first key without room.",
			"Independent choices: each of the 18 elements in the other three buckets has the same remainder with odds of 2^-14. Half of them came later, which makes one delete in 1,820.",
			"Low bits: a multiplication by an odd number keeps them together, so that 2048 groups of four buckets are all there are, each for 24 keys on average and 32 at most.",
		},
	})
}

// try runs a trial up to the first key without room, and looks for all keys then.
func (s *sketch) try(n, steps int, r *rand.Rand) (lab.Figures, error) {
	keys, err := churn(s, n, steps, steps, r, func() {})
	t := lab.Figures{"no room": 0, "several copies": float64(s.unclear), "keys denied": float64(s.denied)}
	if errors.Is(err, filter.ErrFull) {
		t["no room"] = 1
		return t, nil
	}
	t["moves per thousand steps"] = 1000 * float64(s.moved) / float64(steps)
	for _, k := range keys {
		t["keys denied"] += lab.OneIf(len(s.find(k)) == 0)
	}
	return t, err
}

// A place is where a key may go in one subarray, and what is kept of it there.
type place struct {
	bucket    int
	remainder uint16
}

// A locator gives the places of a key, one in each subarray.
type locator func(k filter.Key) [4]place

// independent is the direct construction: four buckets and one remainder, all from
// different bits of the key.
func independent(*rand.Rand) locator {
	return func(k filter.Key) (at [4]place) {
		for i := range at {
			at[i] = place{int(k >> (11 * i) % 2048), uint16(k >> 50)}
		}
		return at
	}
}

// permuted multiplies a fingerprint of 25 bits by odd numbers; low says whether
// the low bits are the bucket.
func permuted(low bool) func(*rand.Rand) locator {
	return func(r *rand.Rand) locator {
		var factors [4]uint64
		for i := range factors {
			factors[i] = r.Uint64() | 1
		}
		return func(k filter.Key) (at [4]place) {
			for i, a := range factors {
				x := a * uint64(k) % fingerprints
				at[i] = place{int(x >> 14), uint16(x % (1 << 14))}
				if low {
					at[i] = place{int(x % 2048), uint16(x >> 11)}
				}
			}
			return at
		}
	}
}

// A slot is a cell. It keeps the first key that came, so that the key can be moved; a
// filter would take the inverse of its permutation.
type slot struct {
	remainder, copies uint16
	key               filter.Key
}

// A sketch is a d-left table with any way to find places and any number of moves.
type sketch struct {
	cells  [4][2048][8]slot
	locate locator

	moves int  // how many keys may be moved for a new one
	first bool // only out of the first subarray

	moved   int
	unclear int // deletes that found several copies
	denied  int // deletes that found none
}

// find returns the copies of a key.
func (s *sketch) find(k filter.Key) (copies []*uint16) {
	for i, at := range s.locate(k) {
		for c := range s.cells[i][at.bucket] {
			if cell := &s.cells[i][at.bucket][c]; cell.copies > 0 && cell.remainder == at.remainder {
				copies = append(copies, &cell.copies)
			}
		}
	}
	return copies
}

// free returns the number of empty cells of a bucket, and the first one.
func (s *sketch) free(subarray, bucket int) (n int, cell *slot) {
	for c := range s.cells[subarray][bucket] {
		if s.cells[subarray][bucket][c].copies > 0 {
			continue
		}
		if n++; n == 1 {
			cell = &s.cells[subarray][bucket][c]
		}
	}
	return n, cell
}

// roomiest returns a cell of the least loaded bucket of a key, the leftmost of several.
func (s *sketch) roomiest(at [4]place) (cell *slot, remainder uint16) {
	most := 0
	for i, p := range at {
		if n, c := s.free(i, p.bucket); n > most {
			most, cell, remainder = n, c, p.remainder
		}
	}
	return cell, remainder
}

// Add raises a copy that is there, or takes a cell of the roomiest bucket, or makes
// room.
func (s *sketch) Add(k filter.Key) (bool, error) {
	if copies := s.find(k); len(copies) > 0 {
		*copies[0]++
		return false, nil
	}
	at := s.locate(k)
	cell, remainder := s.roomiest(at)
	for depth := 1; cell == nil && depth <= s.moves; depth++ {
		for i := 0; i < 4 && cell == nil && (i == 0 || !s.first); i++ {
			cell, remainder = s.makeRoom(i, at[i].bucket, depth, nil), at[i].remainder
		}
	}
	if cell == nil {
		return false, filter.ErrFull
	}
	*cell = slot{remainder, 1, k}
	return true, nil
}

// makeRoom empties a cell of a full bucket: its key goes to another of its buckets, in
// which room is made if there is none, with so many moves in all. The path has the
// buckets that are being emptied.
func (s *sketch) makeRoom(subarray, bucket, moves int, path []int) *slot {
	path = append(path, subarray<<11|bucket)
	for c := range s.cells[subarray][bucket] {
		from := &s.cells[subarray][bucket][c]
		at := s.locate(from.key)
		for i := range at {
			if slices.Contains(path, i<<11|at[i].bucket) {
				continue
			}
			_, to := s.free(i, at[i].bucket)
			if to == nil && moves > 1 {
				to = s.makeRoom(i, at[i].bucket, moves-1, path)
			}
			if to != nil {
				*to = slot{at[i].remainder, from.copies, from.key}
				from.copies = 0
				s.moved++
				return from
			}
		}
	}
	return nil
}

// Delete lowers the first copy it finds: there is no better choice. A key that is not
// there is counted.
func (s *sketch) Delete(k filter.Key) error {
	copies := s.find(k)
	if len(copies) == 0 {
		s.denied++
		return nil
	}
	if len(copies) > 1 {
		s.unclear++
	}
	*copies[0]--
	return nil
}
