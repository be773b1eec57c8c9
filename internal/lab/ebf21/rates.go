package ebf21

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// sampled is what the trials of one contender found after some number of keys.
type sampled struct {
	keys    int
	yes     int // of all queries
	queries int
	rate    lab.Estimate // over the trials
	fast    float64      // bits per key that queries read
}

// sampleRates fills filters of 2^size bits with distinct keys and asks for absent
// ones whenever there are as many as a stop says.
func sampleRates(ctx context.Context, e *lab.Env, c contender, size int, stops []int) ([]sampled, error) {
	queries := e.Int("queries")
	type visit struct {
		yes  int
		fast float64
	}
	trials, err := lab.TryTrials(ctx, e, e.Int("trials"), func(_ int, r *rand.Rand) ([]visit, error) {
		f, err := c.build(size, r.Uint64())
		if err != nil {
			return nil, err
		}
		visits := make([]visit, len(stops))
		for i, added := 0, 0; i < len(stops); added, i = stops[i], i+1 {
			if err := addAll(f, distinct(r, stops[i]-added)); err != nil {
				return nil, err
			}
			visits[i] = visit{countYes(f, r, queries), float64(f.Info().FastBits) / float64(stops[i])}
		}
		return visits, nil
	})
	out := make([]sampled, len(stops))
	for i, n := range stops {
		out[i].keys = n
		var rates []float64
		for _, visits := range trials {
			out[i].yes += visits[i].yes
			out[i].queries += queries
			out[i].fast += visits[i].fast / float64(len(trials))
			rates = append(rates, float64(visits[i].yes)/float64(queries))
		}
		out[i].rate = lab.Mean(rates)
	}
	return out, err
}

// countYes asks for keys that are not in the set.
func countYes(f filter.Filter, r *rand.Rand, queries int) (yes int) {
	for range queries {
		if f.MayContain(filter.Key(r.Uint64())) {
			yes++
		}
	}
	return yes
}

// atMost reports whether a rate is at most another one, but for chance.
func (s sampled) atMost(other sampled) bool { return s.rate.Mean-other.rate.Mean <= s.spread(other) }

// below reports whether it is lower beyond chance.
func (s sampled) below(other sampled) bool { return other.rate.Mean-s.rate.Mean > s.spread(other) }

// spread is how far apart the two may be by chance. That of the trials is taken if it
// is wider than that of the counts: filters differ, too.
func (s sampled) spread(other sampled) float64 {
	counts := math.Sqrt(float64(s.yes+other.yes)+1) / float64(max(s.queries, 1))
	return max(lab.Sigmas*counts, lab.Spread(s.rate, other.rate))
}

// howCompared is the tolerance of such comparisons.
var howCompared = fmt.Sprintf("but for %d standard errors of the difference", lab.Sigmas)

// point is where a sampled rate is drawn. Nothing can be drawn of 0 where the axis
// is logarithmic.
func (s sampled) point(x float64) (lab.Point, bool) {
	return lab.Share(x, s.yes, s.queries), s.yes > 0
}
