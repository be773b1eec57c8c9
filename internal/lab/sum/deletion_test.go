package sum

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/lab"
)

var small = bloom.Shape{Bits: 9_586, Hashes: 7} // 1,000 keys at 1 %

func TestMethodsHaveTheBitsTheySay(t *testing.T) {
	for _, m := range methods(small) {
		f, err := m.build()
		if err != nil {
			t.Fatal(err)
		}
		// Memory comes in words of 64 bits.
		if got := f.Info().FastBits; got < m.bits || got > m.bits+256 {
			t.Errorf("%s: %d bits, says %d", m.name, got, m.bits)
		}
	}
	for _, m := range methodsOf(24_000, 1000) {
		if m.bits != 24_000 {
			t.Errorf("%s: %d bits of 24000", m.name, m.bits)
		}
	}
	for _, m := range methods(bloom.Shape{}) {
		if _, err := m.build(); err == nil {
			t.Errorf("%s without bits", m.name)
		}
		if _, _, err := m.compareBits(nil, nil); err == nil {
			t.Errorf("%s compared without bits", m.name)
		}
	}
}

// Counters must leave what a filter without the deleted keys has; the array more.
func TestCompareBits(t *testing.T) {
	keys := lab.RandomKeys(rand.New(rand.NewPCG(1, 1)), 1000)
	list := methods(small)
	for i, m := range list {
		f, err := m.build()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := filter.AddBatch(f, keys); err != nil {
			t.Fatal(err)
		}
		if ratio, differ, err := m.compareBits(f, keys); err != nil || ratio != 1 || differ != 0 {
			t.Errorf("%s: ratio %v, %d bits differ, %v before anything is deleted", m.name, ratio, differ, err)
		}
		if _, _, _, err := filter.DeleteBatch(f, keys[:500]); err != nil {
			t.Fatal(err)
		}
		ratio, differ, err := m.compareBits(f, keys[500:])
		if err != nil || (ratio == 1) != (m.name == "counters") || differ != 0 {
			t.Errorf("%d %s: ratio %v, %d bits differ, %v", i, m.name, ratio, differ, err)
		}
	}
	// A filter that lost a key's bits must be seen.
	f, _ := list[1].build()
	if _, _, err := filter.AddBatch(f, keys[:999]); err != nil {
		t.Fatal(err)
	}
	if _, differ, _ := list[1].compareBits(f, keys); differ == 0 {
		t.Error("a missing key is not seen")
	}
}

func TestPairDeniesWhatWasDeleted(t *testing.T) {
	p, err := buildPair(small)
	if err != nil {
		t.Fatal(err)
	}
	var _ filter.Deleter = p
	if err := p.Delete(1); !errors.Is(err, filter.ErrNotFound) {
		t.Errorf("deleting an absent key: %v", err)
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
	if info := p.Info(); info.FastBits < 2*small.Bits || info.Fill == 0 {
		t.Errorf("%+v", info)
	}
}
