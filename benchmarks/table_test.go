package main

import (
	"math"
	"strings"
	"testing"
)

// sample is a report with figures that are easy to follow.
func sample() *report {
	c := cell{N: 10_000, FPR: 0.01, KeySize: 8, Threads: 1}
	return &report{Results: []result{
		{
			cell: c, Contender: "quick",
			Facts: &facts{Bits: 10.26, Says: 10.1, Positive: 9, Probes: 1000, Allocs: map[op]float64{insert: 0, hit: 0}},
			Nanos: map[op][]float64{
				insert: {10, 10, 10}, hit: {8, 9, 10}, miss: {5, 5, 5},
				hit.inBatches(64): {4.5, 4.5, 4.5}, miss.inBatches(64): {5, 5, 5},
			},
		},
		{
			cell: c, Contender: "slow one",
			Facts: &facts{
				Bits: 300, Probes: 1000, Allocs: map[op]float64{insert: 1, hit: 0, remove: 2.25},
				Note: "static", Missed: 0.25, Refused: 3,
			},
			Nanos: map[op][]float64{insert: {100, 100, 100}, hit: {16, 18, 20}, miss: {50, 50, 50}, remove: {1234, 1234, 1234}},
		},
		{cell: c, Contender: "absent", Skipped: "is ill"},
	}}
}

const sampleText = `## 10 k keys of 8 bytes, asked 1 %, 1 thread

| contender | bits/key | says | FPR   | insert ns | hit ns   | miss ns  | delete ns | ×insert | ×hit | ×miss | allocs  | remarks                                            |
| ---       | --:      | --:  | --:   | --:       | --:      | --:      | --:       | --:     | --:  | --:   | --:     | ---                                                |
| quick     | 10.3     | 10.1 | 0.9 % | 10.0 ±0%  | 9.0 ±6%  | 5.0 ±0%  | –         | 0.10    | 0.50 | 0.10  | 0       |                                                    |
| slow one  | 300.0    | –    | 0     | 100 ±0%   | 18.0 ±6% | 50.0 ±0% | 1234 ±0%  | 1.00    | 1.00 | 1.00  | 1/0/2.2 | static; 25 % false negatives; full: refused 3 keys |

| batches | insert of 64 | hit of 64       | miss of 64      | insert of 1024 | hit of 1024 | miss of 1024 |
| ---     | --:          | --:             | --:             | --:            | --:         | --:          |
| quick   | –            | 4.5 ±0% (0.50×) | 5.0 ±0% (1.00×) | –              | –           | –            |

Not here: absent: is ill.

`

func TestCellIsWrittenAsMarkdown(t *testing.T) {
	var out strings.Builder
	r := sample()
	r.writeCell(&printer{w: &out}, r.cells()[0], "slow one")
	if out.String() != sampleText {
		t.Errorf("wrote\n%s\nwant\n%s", out.String(), sampleText)
	}
}

func TestRatiosAreLeftOutWithoutABase(t *testing.T) {
	var out strings.Builder
	r := sample()
	r.writeMain(&printer{w: &out}, r.cells()[0], "absent")
	if strings.Contains(out.String(), "×") {
		t.Errorf("wrote\n%s", out.String())
	}
}

func TestMissingFiguresAreDashes(t *testing.T) {
	for name, got := range map[string]string{
		"NaN": figure(math.NaN(), "%g"), "infinite": figure(math.Inf(1), "%g"), "no samples": nanos(nil),
		"bits of no filter": (&facts{Bits: 3}).bitsText(), "rate without probes": (&facts{}).rateText(),
	} {
		if got != none {
			t.Errorf("%s: %q", name, got)
		}
	}
}
