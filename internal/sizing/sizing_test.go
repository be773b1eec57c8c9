package sizing_test

import (
	"errors"
	"math"
	"testing"

	"github.com/everbloom-go/everbloom/internal/sizing"
)

func TestProblemsNamePackageFieldValueAndLimit(t *testing.T) {
	const most = 1000
	for _, c := range []struct {
		check func(p *sizing.Problems)
		want  string
	}{
		{func(p *sizing.Problems) { p.Size(most, most, 0.5) }, ""},
		{func(p *sizing.Problems) { p.Size(0, most, sizing.Floor(1)) }, ""},
		{func(p *sizing.Problems) { p.Size(most+1, most, 0.5) }, "kind: Items: 1001, at most 1000"},
		{func(p *sizing.Problems) { p.Size(1, most, 0) }, "kind: FPR: 0, must lie between 0 and 1"},
		{func(p *sizing.Problems) { p.Size(1, most, 1) }, "kind: FPR: 1, must lie between 0 and 1"},
		{func(p *sizing.Problems) { p.Size(1, most, -0.5) }, "kind: FPR: -0.5, must lie between 0 and 1"},
		{func(p *sizing.Problems) { p.Size(1, most, math.NaN()) }, "kind: FPR: NaN, must lie between 0 and 1"},
		{
			func(p *sizing.Problems) { p.Size(2, most, sizing.Floor(1)) },
			"kind: FPR: 5.421010862427522e-20, keys of 64 bits give at least 1.1e-19 for 2 items",
		},
		{
			func(p *sizing.Problems) { p.Size(most+1, most, 2) },
			"kind: FPR: 2, must lie between 0 and 1\nkind: Items: 1001, at most 1000",
		},
		{func(p *sizing.Problems) { sizing.Between(p, "Hashes", 1, 1, 64) }, ""},
		{func(p *sizing.Problems) { sizing.Between(p, "Hashes", 64, 1, 64) }, ""},
		{func(p *sizing.Problems) { sizing.Between(p, "Hashes", 0, 1, 64) }, "kind: Hashes: 0, must be 1 to 64"},
		{func(p *sizing.Problems) { sizing.Between(p, "Bits", uint64(65), 1, 64) }, "kind: Bits: 65, must be 1 to 64"},
		{func(p *sizing.Problems) { p.OneOf("Width", 8, 2, 4, 8) }, ""},
		{func(p *sizing.Problems) { p.OneOf("Width", 3, 2, 4, 8) }, "kind: Width: 3, must be 2, 4 or 8"},
		{func(p *sizing.Problems) { p.Add(nil); p.Add(errors.New("other")) }, "other"},
	} {
		p := sizing.In("kind")
		c.check(&p)
		got := ""
		if err := p.Err(); err != nil {
			got = err.Error()
		}
		if got != c.want || p.None() != (c.want == "") {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
