package bloom_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bloom"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	classic = filtertest.Subject{
		Name: "bloom",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return bloom.New(bloom.Config{Items: items, FPR: fpr})
		},
		Read: func(r io.Reader) (filter.Filter, error) { return bloom.Read(r) },
	}
	blocked = filtertest.Subject{
		Name: "blocked",
		New: func(items uint64, fpr float64) (filter.Filter, error) {
			return bloom.NewBlocked(bloom.Config{Items: items, FPR: fpr})
		},
		Read: func(r io.Reader) (filter.Filter, error) { return bloom.ReadBlocked(r) },
	}
)

func TestConformance(t *testing.T)        { filtertest.Run(t, classic) }
func TestBlockedConformance(t *testing.T) { filtertest.Run(t, blocked) }

func TestFromWordsTakesOnlyWhatFits(t *testing.T) {
	f, err := bloom.FromWords(bloom.Shape{Bits: 70, Hashes: 2}, []uint64{1, 1 << 5})
	if err != nil || f.Info().Fill != 2.0/70 {
		t.Errorf("two bits of 70: %v, %v", f, err)
	}
	for _, words := range [][]uint64{nil, {1}, {1, 1 << 6}, {1, 2, 3}} {
		if _, err := bloom.FromWords(bloom.Shape{Bits: 70, Hashes: 2}, words); err == nil {
			t.Errorf("%v taken for 70 bits", words)
		}
	}
}
