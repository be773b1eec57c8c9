package dlbf10

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// On a picture the paper's regions must do what the filter does.
func TestPictureAgreesWithTheFilter(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		keys := lab.RandomKeys(r, 5+r.IntN(40))
		regions := 1 + r.IntN(100)
		s := deletable.Shape{Bits: uint64(216 + regions), Hashes: 1 + r.IntN(8), Regions: uint64(regions), Salt: seed}
		f, err := filled(s, keys)
		if err != nil {
			t.Fatal(err)
		}
		want := deleteAll(f, keys)
		p, err := takePicture(216, s.Hashes, seed, keys)
		if err != nil {
			t.Fatal(err)
		}
		got := p.gainOf(p.byRegions(regions, p.inRow(regions)))
		if !near(got.deletable, want.deletable) || !near(got.free, want.clearedShare()) || float64(count(p.set)) != want.set {
			t.Errorf("seed %d, %+v, %d keys: picture %+v, filter %+v", seed, s, len(keys), got, want)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// picturesOf returns some pictures of filters like the paper's.
func picturesOf(t *testing.T, number, cells, keys int) []picture {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(cells)))
	list := make([]picture, number)
	for i := range list {
		p, err := takePicture(cells, 5, 0, lab.RandomKeys(r, keys))
		if err != nil {
			t.Fatal(err)
		}
		list[i] = p
	}
	return list
}

func TestPicturesAreConsistent(t *testing.T) {
	for _, p := range picturesOf(t, 20, 216, 22) {
		hits := make([]int, len(p.set))
		for _, places := range p.places {
			for _, c := range places {
				hits[c]++
			}
		}
		for i, h := range hits {
			if p.set[i] != (h > 0) || p.collided[i] != (h > 1) {
				t.Fatalf("cell %d: %d hits, set %t, collided %t", i, h, p.set[i], p.collided[i])
			}
		}
	}
}

func TestRefusedShapesAreReported(t *testing.T) {
	if _, err := takePicture(0, 5, 0, nil); err == nil {
		t.Error("a picture without cells")
	}
	if _, err := addAndDelete(deletable.Shape{}, nil); err == nil {
		t.Error("a filter without bits")
	}
	if _, err := choose(deletable.Shape{}, nil, nil, 1); err == nil {
		t.Error("a choice of nothing")
	}
	if _, err := buildVersion(deletable.Shape{}, nil); err == nil {
		t.Error("a version without bits")
	}
	if _, _, err := drawExample(deletable.Shape{}); err == nil {
		t.Error("an example without bits")
	}
	if _, err := measureRates(deletable.Shape{}, nil, nil); err == nil {
		t.Error("rates without bits")
	}
}
