package field

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
	"github.com/everbloom-go/everbloom/internal/probe"
)

var zipf = lab.Experiment{
	ID:       "field/zipf",
	Title:    "Negative queries that repeat",
	Question: "When absent keys are asked about by a Zipf distribution, which rate does a stream of queries see?",
	Says:     "docs/choosing.md: the expected rate, a mean over filters, is at most the one that was asked for. No paper of the five asks about keys that repeat.",
	Params:   lab.Params{lab.Int("keys", 500).Full(20_000), lab.Int("universe", 1_000_000), lab.Floats("exponents", 0, 1.05, 1.2, 1.5, 2), lab.Int("queries", 2_000).Full(20_000), lab.Int("trials", 1_000).Full(2_000)},
	Run:      runZipf,
	Plots: []lab.View{{
		Name: "spread", Title: "How far one filter's stream is off its rate, asked for 1 %", X: "exponent", By: "kind", XAxis: lab.Axis{Label: "exponent of the distribution; 0: every key once"},
		Y: lab.Axis{Label: "mean distance ÷ rate", Log: true}, Curves: []lab.Curve{{Measured: "distance"}},
	}},
	Claims: []lab.Claim{
		{Name: "rate over all filters", Printed: "the mean over filters does not depend on how keys repeat", Where: "docs/findings.md", Of: lab.Of("rate"), Is: lab.Matches(lab.Of("rate", "exponent", 0))},
		{Name: "distance of one filter", Printed: "rises with repetition", Where: "docs/findings.md", Of: lab.Of("distance"), Is: lab.Rises("exponent")},
		{Kind: lab.Question, Name: "distance at exponent 2", Of: lab.Of("distance", "exponent", 2), Is: lab.Shows()},
	},
}

func runZipf(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, universe, queries := e.Int("keys"), uint64(e.Int("universe")), e.Int("queries")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "streams", Title: "Streams of queries about absent keys", Dims: []lab.Dim{lab.Among("kind", "bloom", "blocked"), lab.Along("exponent", e.Floats("exponents")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			s, err := newWindow(at.Name("kind"), n, r)
			if err != nil {
				return nil, err
			}
			yes := 0.0
			if at.Float("exponent") == 0 {
				yes = s.yes(queries)
			} else {
				draw := rand.NewZipf(r, at.Float("exponent"), 1, universe-1)
				for range queries {
					yes += lab.OneIf(s.MayContain(s.keys.Absent(int(draw.Uint64())))) / float64(queries)
				}
			}
			return lab.Figures{"rate": yes, "distance": math.Abs(yes/rate - 1)}, nil
		},
		Metrics: []lab.Metric{{Name: "rate", Unit: lab.InPercent}, {Name: "distance"}},
	}, lab.Notes{
		"Each trial is a new filter with new keys, asked for 1 %. The distance is that of the stream's rate from 1 %, divided by 1 %: with exponent 0 every absent key is asked about once.",
	})
}

const (
	known  = "XXH3, known"
	secret = "SipHash, secret"
)

var adversary = lab.Experiment{
	ID:       "field/adversary",
	Title:    "An adversary who chooses keys",
	Question: "What is gained by replaying false positives, and by adding and asking about keys that the hash sends to one part of the filter?",
	Says:     "docs/choosing.md and package filter: XXH3 is for keys that are not chosen by others; SipHash with a secret is for keys that are.",
	Params:   lab.Params{lab.Int("keys", 20_000).Full(1_000_000), lab.Int("queries", 20_000).Full(500_000)},
	Run:      runAdversary,
	Claims: []lab.Claim{
		{Name: "no false negatives", Printed: found, Where: "README", Of: lab.Of("false negatives"), Is: lab.Zero()},
		{Name: "crowded keys, secret hash", Printed: "the asked rate", Where: "package filter", Of: lab.Of("rate in the crowded part", "hash", secret), Is: lab.AtMost(lab.Number(rate))},
		{Name: "crowded keys, known hash, blocked", Printed: "more than ten times the asked rate", Where: "docs/findings.md", Of: lab.Of("rate in the crowded part", "hash", known, "kind", "blocked"), Is: lab.Above(lab.Number(10 * rate))},
		{Name: "no refused keys, secret hash", Printed: "honest keys are never refused", Where: "package comments", Of: lab.Of("refused", "hash", secret), Is: lab.Zero(), Show: []lab.Pick{lab.Of("refused", "hash", known)}},
		{Name: "replayed false positives, built again with a new secret", Printed: "one in ten at most", Where: "docs/findings.md", Of: lab.Of("replayed, built again", "hash", secret), Is: lab.AtMost(lab.Number(0.1))},
		{Kind: lab.Question, Name: "replayed false positives, built again with the known hash", Of: lab.Of("replayed, built again", "hash", known), Is: lab.Shows()},
	},
}

func runAdversary(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	n, queries := e.Int("keys"), e.Int("queries")
	return lab.Find(ctx, e, lab.Sweep{
		Name: "attacks", Title: "What an adversary gets, asked for 1 %", Dims: []lab.Dim{lab.Among("kind", "deletable", "bloom", "blocked", "dleft", "perennial", "evergreen"), lab.Among("hash", known, secret)}, Trials: 1,
		Trial: func(at lab.At, r *rand.Rand) (lab.Figures, error) {
			return attackOn(at.Name("kind"), at.Name("hash") == secret, n, queries, r)
		},
		Metrics: []lab.Metric{
			{Name: "rate", Unit: lab.InPercent, Asked: lab.Each(queries)},
			{Name: "rate in the crowded part", Unit: lab.InPercent, Asked: lab.Each(queries)},
			{Name: "false negatives"},
			{Name: "refused", Unit: lab.InPercent},
			{Name: "replayed, built again", Unit: lab.InPercent},
		},
	}, lab.Notes{
		"The adversary computes XXH3 with seed 0 and adds one key to every ten honest ones, all of which fall into the first of 256 parts of the filter. Then absent keys of that sort are asked about. Where the filter's hash is SipHash with a secret, this is what the adversary believes.",
		"Replayed are absent keys that were answered with yes, to a filter of the same keys that was built again: with the same hash, or with a new secret. Filters with a salt of their own differ even with the same hash.",
	})
}

// attackOn fills a filter with honest and with chosen keys and asks it. Numbers of honest
// keys, of absent ones and of the adversary's begin apart.
func attackOn(kind string, isSecret bool, n, queries int, r *rand.Rand) (lab.Figures, error) {
	crowd := n / 10
	chosen := crowded(kind, crowd+queries)
	s, err := withChosen(kind, isSecret, n, chosen[:crowd], r)
	if err != nil {
		return nil, err
	}
	var replay []uint64
	for i := uint64(1 << 61); i < 1<<61+uint64(queries); i++ {
		if s.MayContain(s.keys.Key(i)) {
			replay = append(replay, i)
		}
	}
	again, err := withChosen(kind, isSecret, n, chosen[:crowd], r)
	if err != nil {
		return nil, err
	}
	return lab.Figures{
		"rate": float64(len(replay)) / float64(queries), "rate in the crowded part": s.share(chosen[crowd:]), "false negatives": s.denied(),
		"refused": float64(s.refused) / float64(crowd), "replayed, built again": again.share(replay),
	}, nil
}

// crowded returns numbers of keys that no honest key has and whose known hash, mixed as
// the kind does without a salt, begins with eight zeros: the bits that choose a block.
func crowded(kind string, count int) (list []uint64) {
	mixer := probe.NewMixer(0)
	mix := mixer.Mix
	if kind == "evergreen" {
		mix = func(k filter.Key) uint64 { return uint64(k) * uint64(mixer) }
	}
	for i, known := uint64(1<<62), walk.KeysOf(filter.XXH3(0)); len(list) < count; i++ {
		if mix(known.Key(i))>>56 == 0 {
			list = append(list, i)
		}
	}
	return list
}

// withChosen is a filter with n honest keys and the chosen ones, some of which it may refuse.
func withChosen(kind string, isSecret bool, n int, chosen []uint64, r *rand.Rand) (*subject, error) {
	h := filter.XXH3(0)
	if isSecret {
		var key [16]byte
		binary.NativeEndian.PutUint64(key[:], r.Uint64())
		binary.NativeEndian.PutUint64(key[8:], r.Uint64())
		h = filter.SipHash(key)
	}
	s, err := newSubject(kind, n+len(chosen), rate, walk.KeysOf(h))
	if err != nil {
		return nil, err
	}
	if err := s.add(n); err != nil {
		return nil, err
	}
	for _, i := range chosen {
		if _, err := s.Add(s.keys.Key(i)); errors.Is(err, filter.ErrFull) {
			s.refused++
		} else if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// share is the share of the keys of some numbers that get a yes.
func (s *subject) share(numbers []uint64) (yes float64) {
	for _, i := range numbers {
		yes += lab.OneIf(s.MayContain(s.keys.Key(i)))
	}
	return yes / float64(max(len(numbers), 1))
}
