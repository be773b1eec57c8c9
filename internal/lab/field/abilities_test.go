package field

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// A kind that is described wrongly must be found out, column by column.
func TestConductSeesAWrongTable(t *testing.T) {
	spoilt := func(name string, change func(*kinds.Kind)) bench {
		k, err := kinds.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		change(&k)
		return bench{kind: k, keys: walk.NewKeys((&lab.Env{Seed: 1}).Rand(0)), n: 2000, rate: 0.01, queries: 5000, times: 8}
	}
	for _, c := range []struct {
		name string
		try  func(bench) (trial, error)
		b    bench
	}{
		{"growth", bench.tryGrowth, spoilt("bloom", func(k *kinds.Kind) { k.Grows = true })},
		{"drift", bench.tryGrowth, spoilt("dynamic", func(k *kinds.Kind) { k.Drifts = false })},
		{"pins", bench.tryDelete, spoilt("deletable", func(k *kinds.Kind) { k.Pins = false })},
		{"twice", bench.tryTwice, spoilt("counting", func(k *kinds.Kind) { k.Duplicates = filter.DuplicatesIgnored })},
		{"absent", bench.tryAbsent, spoilt("counting", func(k *kinds.Kind) { k.AbsentDelete = "refused" })},
		{"merge", bench.tryMerge, spoilt("evergreen", func(k *kinds.Kind) { k.Merging = "∪ ∩, equal shape" })},
		{"intersection", bench.tryMerge, spoilt("dynamic", func(k *kinds.Kind) { k.UnionOnly = false })},
	} {
		if got, err := c.try(c.b); err != nil || got.ok {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}
