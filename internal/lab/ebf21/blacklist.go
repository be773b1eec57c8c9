package ebf21

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// blackFile is where addresses are in a folder with data.
const blackFile = "ip/ipsum.txt.gz"

var blacklist = lab.Experiment{
	ID:       "ebf21/blacklist",
	Paper:    paper,
	Title:    "Sec. 1: black lists and white lists",
	Question: "Does a white list make up for the false positives of a black list, and what does it cost?",
	Says: "Sec. 1: \"even if the IP address is legal, the result might be a false positive ... To solve the problem, a white list can be set up to store those friendly addresses. In practice, the " +
		"elements of both lists might change and the lists should be deletable and adjustable.\"",
	Quick: lab.Params{lab.Int("listed", 5_000), lab.Int("friendly", 5_000), lab.Floats("rates", 0.01, 0.001), lab.Int("trials", 6)},
	Full:  lab.Params{lab.Int("listed", 120_430), lab.Int("friendly", 500_000), lab.Floats("rates", 0.01, 0.001), lab.Int("trials", 10)},
	Data:  []string{blackFile},
	Run:   runBlacklist,
	Claims: []lab.Claim{
		{Name: "friendly addresses that the black list blocks", Printed: "the result might be a false positive: at most the rate", Where: "Sec. 1", Of: lab.Of("friendly blocked"), Is: lab.AtMost(lab.Of("asked"))},
		{Name: "friendly addresses that are blocked with a white list", Printed: "to solve the problem, a white list can be set up", Where: "Sec. 1", Of: lab.Of("blocked with a white list"), Is: lab.Zero()},
		{Name: "no listed address is missed after half of the list is gone", Printed: "the lists should be deletable", Where: "Sec. 1", Of: lab.Of("missed"), Is: lab.Zero()},
		{Name: "addresses that are off the list and still blocked", Printed: "the lists should be deletable and adjustable: at most the rate", Where: "Sec. 1", Of: lab.Of("still blocked"), Is: lab.AtMost(lab.Of("asked"))},
		{Kind: lab.Question, Name: "listed addresses that a white list lets through", Printed: "not said: a white list that is a filter has false positives, too, and these are attackers", Of: lab.Of("let through"), Is: lab.Shows()},
	},
}

// judged are shares of addresses, and counts of what must not be.
type judged struct{ blocked, blockedStill, missed, gone, through float64 }

// listedFor reads real addresses, or makes some up, all of them different.
func listedFor(e *lab.Env, n int) (list []uint32, note string, err error) {
	if e.Data == "" {
		for i, first := uint32(0), e.Rand(0).Uint32(); int(i) < n; i++ {
			list = append(list, (first+i)*0x9e3779b1)
		}
		return list, "Listed addresses are made up.", nil
	}
	list, err = lab.IPv4(e.Data, blackFile)
	list = list[:min(n, len(list))]
	return list, fmt.Sprintf("Listed addresses are %d of a real list, %s.", len(list), blackFile), err
}

func runBlacklist(ctx context.Context, e *lab.Env) (*lab.Result, error) {
	list, note, err := listedFor(e, e.Int("listed"))
	if err != nil {
		return nil, err
	}
	friendly := e.Int("friendly")
	g, err := lab.Sweep(ctx, e, lab.Spec[judged]{
		Name: "lists", Title: "Addresses by two lists", Dims: []lab.Dim{lab.Along("rate", e.Floats("rates")...)}, Trials: e.Int("trials"),
		Trial: func(at lab.At, r *rand.Rand) (judged, error) { return judge(at.Float("rate"), r, list, friendly) },
		Metrics: []lab.Metric[judged]{
			{Name: "friendly blocked", Unit: lab.InPercent, Of: func(j judged) float64 { return j.blocked }, Asked: lab.Each(friendly)},
			{Name: "blocked with a white list", Of: func(j judged) float64 { return j.blockedStill }},
			{Name: "missed", Of: func(j judged) float64 { return j.missed }},
			{Name: "still blocked", Unit: lab.InPercent, Of: func(j judged) float64 { return j.gone }, Asked: lab.Each(len(list) / 2)},
			{Name: "let through", Unit: lab.InPercent, Of: func(j judged) float64 { return j.through }, Asked: lab.Each(len(list))},
		},
		Formulas: []lab.Formula{{Name: "asked", Unit: lab.InPercent, Of: func(at lab.At) float64 { return at.Float("rate") }}},
	})
	return &lab.Result{Grids: []*lab.Grid{g}, Notes: []string{note, "Friendly addresses are made up and not on the list. Both lists are elastic filters that begin with room for 1,000 and grow."}}, err
}

// judge fills a black and a white list and takes half of the black one off again.
func judge(rate float64, r *rand.Rand, list []uint32, friendly int) (j judged, err error) {
	hash, listed := filter.XXH3(r.Uint64()), make(map[uint32]bool, len(list))
	key := func(address uint32) filter.Key { return hash.Uint64(uint64(address)) }
	black, err := elastic.New(elastic.Config{Items: 1_000, FPR: rate})
	if err != nil {
		return j, err
	}
	white, err := elastic.New(elastic.Config{Items: 1_000, FPR: rate, Salt: 1})
	if err != nil {
		return j, err
	}
	for _, a := range list {
		listed[a] = true
		if _, err := black.Add(key(a)); err != nil {
			return j, err
		}
	}
	black.FinishResize()
	for n := 0; n < friendly; {
		a := r.Uint32()
		if listed[a] {
			continue
		}
		n++
		if _, err := white.Add(key(a)); err != nil {
			return j, err
		}
		if black.MayContain(key(a)) {
			j.blocked += 1 / float64(friendly)
			if !white.MayContain(key(a)) {
				j.blockedStill++
			}
		}
	}
	for _, a := range list {
		if white.MayContain(key(a)) {
			j.through += 1 / float64(len(list))
		}
	}
	return j, j.shorten(black, list, key)
}

// shorten takes the first half of a list off and looks at both halves.
func (j *judged) shorten(black *elastic.Filter, list []uint32, key func(uint32) filter.Key) error {
	gone, left := list[:len(list)/2], list[len(list)/2:]
	for _, a := range gone {
		if err := black.Delete(key(a)); err != nil {
			return err
		}
	}
	for _, a := range left {
		if !black.MayContain(key(a)) {
			j.missed++
		}
	}
	for _, a := range gone {
		if black.MayContain(key(a)) {
			j.gone += 1 / float64(len(gone))
		}
	}
	return nil
}
