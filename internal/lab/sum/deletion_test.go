package sum

import (
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
)

var small = bloom.Shape{Bits: 9_586, Hashes: 7} // 1,000 keys at 1 %

// Counters leave what a filter without the deleted keys has, the array more; a second
// filter denies.
func TestWaysToDelete(t *testing.T) {
	for _, way := range []string{array, counters, second} {
		looks, err := replace(way, small, 1_000, 100, []float64{0, 2}, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if looks[0]["denied"]+looks[0]["wrong answers"]+looks[0]["bits left behind"] > 0 {
			t.Errorf("%s before anything is deleted: %+v", way, looks[0])
		}
		m := looks[1]
		if (m["bits left behind"] == 0) != (way == counters) || (m["denied"] > 0) != (way == second) || way == second && m["left over"] > 0 {
			t.Errorf("%s: %+v", way, m)
		}
		if bits := map[string]float64{array: 2, counters: 4, second: 2}[way]; m["bits"] < bits || m["bits"] > bits+0.03 { // memory comes in words
			t.Errorf("%s: %v times the bits, want %v", way, m["bits"], bits)
		}
		if _, err := replace(way, bloom.Shape{}, 10, 10, nil, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%s without bits", way)
		}
	}
}

func TestPairDeniesWhatWasDeleted(t *testing.T) {
	p, err := deleter(second, small)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Add(1); err != nil || !p.MayContain(1) {
		t.Errorf("%v: the key is not there", err)
	}
	if err := p.Delete(1); err != nil || p.MayContain(1) {
		t.Errorf("%v: the key is still there", err)
	}
	if _, err := p.Add(1); err != nil || p.MayContain(1) {
		t.Error("the key came back")
	}
}
