package dlbf10

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// positions are the ways to come to the cells of a key.
const positions = "positions"

var positionNames = []string{"words, XXH3", "words, MurmurHash3", "random 64-bit keys", "random positions", "random positions, literal"}

var text = lab.Experiment{
	ID:       "dlbf10/text",
	Paper:    "[DlBF10]",
	Title:    "80 %, 90 % and 40 %: the numbers of Sec. IV",
	Question: "Why can 80 % of the keys be deleted and not the 90 % of the theory: is it the hash functions?",
	Says: "Sec. IV, m = 240, k = 5, r = 24, n = 22: \"on average, 80% of the elements could be removed (compared to 90% predicted by theory) by resetting around 40% of the bits\". " +
		"The difference \"can be explained by the assumption in Eq. 1 of perfectly random hash functions\".",
	Quick: textParams(500),
	Full:  textParams(20_000),
	Data:  []string{wordFile},
	Run:   runText,
	Plots: []lab.View{{
		Name: "hashes", Title: "No hash comes near Eq. (1), not even a perfect one", X: positions, XAxis: lab.Axis{Label: "positions from"},
		Y:      lab.Axis{Label: "keys that can be deleted", Percent: true, Min: 0.7, Max: 1},
		Curves: []lab.Curve{{Measured: "deletable", Style: lab.Dots}, {Formula: "Eq. (1)", Style: lab.Dashed}, {Formula: "conditioned"}},
		Marks:  []lab.Mark{{X: 0, Y: 0.8, Text: "80 %, and 90 % by theory"}, {X: 0, Y: 0.9}},
	}},
	Claims: append(deletableClaims(),
		lab.Claim{
			Kind: lab.Erratum, Name: "predicted by theory", Printed: "90 %", Where: "Sec. IV", Of: lab.Of("Eq. (1)", positions, "random positions"), Is: lab.Rounds(),
			Why: "Eq. (1), corrected, gives 93.2 % for m = 240, k = 5, r = 24, n = 22; with m/r in place of m'/r cells to a region it gives 90.7 %, see the readings in dlbf10/fig2",
		},
		lab.Claim{
			Name: "why 80 % and not 90 %", Printed: "explained by the assumption of perfectly random hash functions", Where: "Sec. IV", Of: lab.Of("deletable", positions, "random positions"), Is: lab.Matches(lab.Of("Eq. (1)")),
			Why: "perfectly random positions give 80 %, too: Eq. (1) lets one other key hit a cell of the key in question; given that the key itself hit it, none may",
		},
		lab.Claim{Kind: lab.Own, Name: "the missing condition", Printed: "1 - (1 - p)^k with p = (1 - 1/m')^(kn-1) (1 - p_c)^(m'/r-1)", Of: lab.Of("deletable", positions, "random positions"), Is: lab.Matches(lab.Of("conditioned"))},
		lab.Claim{Kind: lab.Question, Name: "a key that may collide with itself", Printed: "Insert as printed, bit by bit", Where: "Sec. III", Of: lab.Of("deletable", positions, "random positions, literal"), Is: lab.Shows()},
		lab.Claim{
			Name: "bits that were reset", Printed: "40 %: \"around 40% of the bits\"", Where: "Sec. IV", Of: lab.Of("reset bits of the set", positions, "words, XXH3"), Is: lab.Around(),
			Show: []lab.Pick{lab.Of("clean regions", positions, "words, XXH3"), lab.Of("reset bits of all positions", positions, "words, XXH3"), lab.Of("reset bits of the cells", positions, "words, XXH3")},
		}),
}

// deletableClaims compare all but the literal positions with the printed 80 %.
func deletableClaims() (claims []lab.Claim) {
	for _, name := range positionNames[:4] {
		claims = append(claims, lab.Claim{Name: "deletable, " + name, Printed: "80 %", Where: "Sec. IV", Of: lab.Of("deletable", positions, name), Is: lab.Agrees(paperTrials)})
	}
	return claims
}

func textParams(trials int) lab.Params {
	return lab.Params{
		lab.Int("bits", 240), lab.Int("hashes", 5), lab.Int("regions", 24), lab.Int("keys", 22), lab.Int("trials", trials),
	}
}

func runText(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	d, err := openDictionary(e.Data)
	if err != nil {
		return nil, err
	}
	s, n := shape(e, e.Int("regions")), e.Int("keys")
	kn, cells := float64(s.Hashes*n), float64(s.Cells())
	hashed := [][]filter.Key{d.keys(filter.Hash{}), d.keys(filter.Murmur3(0))}
	v := func(lab.At) numbers { return numbersOf(s, float64(n)) }
	share := func(name string, of func(outcome) float64) lab.Metric[outcome] {
		return lab.Metric[outcome]{Name: name, Unit: lab.InPercent, Of: of}
	}
	g, err := lab.Sweep(ctx, e, lab.Spec[outcome]{
		Name: "hashing", Title: "Share of the keys that can be deleted, and of the bits that are reset",
		Dims: []lab.Dim{lab.Among(positions, positionNames...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (outcome, error) {
			switch way := at.Int(positions); way {
			case 0, 1:
				return addAndDelete(s, sample(r, hashed[way], n))
			case 2:
				return randomTrial(s, n, r)
			default:
				return idealTrial(r, s, n, way == 4), nil
			}
		},
		Metrics: []lab.Metric[outcome]{
			share("deletable", deletableShare), share("reset bits of the set", resetShare), share("clean regions", func(o outcome) float64 { return o.clean }),
			share("reset bits of all positions", func(o outcome) float64 { return o.reset / kn }), share("reset bits of the cells", func(o outcome) float64 { return o.reset / cells }),
		},
		Formulas: shareFormulas(v),
		Notes:    []string{"The share of clean regions is nearest to the 40 % of the text, the share of set bits that are reset its most natural reading."},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{d.origin}}, err
}

// idealTrial throws n keys with k perfectly random positions each. If own, a
// position that a key has twice is a collision, as the paper's Insert has it when
// it is carried out bit by bit. Bits are not deleted.
func idealTrial(r *rand.Rand, s deletable.Shape, n int, own bool) outcome {
	o := outcome{set: math.NaN(), reset: math.NaN(), clean: math.NaN()}
	hits := make([]int, s.Cells())
	keys := make([][]int, n)
	for i := range keys {
		seen := map[int]bool{}
		for range s.Hashes {
			c := r.IntN(len(hits))
			if own || !seen[c] {
				hits[c]++
			}
			seen[c] = true
			keys[i] = append(keys[i], c)
		}
	}
	marked := map[int]bool{}
	for c, h := range hits {
		if h > 1 {
			marked[c/int(s.RegionBits())] = true
		}
	}
	for _, places := range keys {
		for _, c := range places {
			if !marked[c/int(s.RegionBits())] {
				o.deletable += 1 / float64(n)
				break
			}
		}
	}
	return o
}
