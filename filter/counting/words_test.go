package counting_test

import (
	"math"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/counting"
)

func TestFromWordsTakesOnlyWhatFits(t *testing.T) {
	s := counting.Shape{Counters: 16, Hashes: 1, CounterBits: 4}
	for _, c := range []struct {
		shape counting.Shape
		keys  uint64
		words []uint64
		want  string
	}{
		{counting.Shape{}, 0, nil, "Counters: 0"},
		{s, 0, nil, "0 words, want 1"},
		{s, 0, make([]uint64, 2), "2 words, want 1"},
		{s, 2, []uint64{1}, "the sum of all counters is 1"},
		{s, math.MaxUint64 - 1, []uint64{1}, "keys, at most"},
	} {
		if f, err := counting.FromWords(c.shape, c.keys, c.words); f != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %d keys, %d words: %v, %v, want %q", c.shape, c.keys, c.words, f, err, c.want)
		}
	}
	f, err := counting.FromWords(s, math.MaxUint64, []uint64{1})
	if err != nil || f.Info().Exact || f.Len() != 1 || f.Count() != math.MaxUint64 {
		t.Errorf("an unknown number of keys: %v", err)
	}
}
