package deletable_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestUnionWithItselfPinsAll(t *testing.T) {
	f := build(t, deletable.Shape{Bits: 240, Hashes: 5, Regions: 24})
	keys := filtertest.Keys(3, 10)
	f.AddBatch(keys)
	if err := f.Union(f); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		wantDelete(t, f, k, filter.ErrPinned)
	}
}

func TestUnionOfSeparateKeysKeepsThemDeletable(t *testing.T) {
	config := deletable.Config{Items: 10_000, FPR: 0.01}
	f, _ := deletable.New(config)
	g, _ := deletable.New(config)
	keys := filtertest.Keys(4, 10_000)
	f.AddBatch(keys[:5000])
	g.AddBatch(keys[5000:])
	if err := f.Union(g); err != nil {
		t.Fatal(err)
	}
	all, _ := deletable.New(config)
	all.AddBatch(keys)
	if string(f.AppendRaw(nil)) != string(all.AppendRaw(nil)) {
		t.Error("the union of two halves is not the filter of the whole")
	}
	if n := f.Len(); n < 9900 || n > 10_100 {
		t.Errorf("%d keys", n)
	}
}
