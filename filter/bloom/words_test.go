package bloom_test

import (
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter/bloom"
)

func TestBlockedFromWordsTakesOnlyWhatFits(t *testing.T) {
	s := bloom.BlockedShape{Blocks: 2, Hashes: 8}
	for n, want := range map[int]string{0: "0 words, want 16", 15: "15 words", 17: "17 words"} {
		if _, err := bloom.BlockedFromWords(s, make([]uint64, n)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d words: %v, want %q", n, err, want)
		}
	}
	if _, err := bloom.BlockedFromWords(bloom.BlockedShape{Blocks: 2, Hashes: 9}, make([]uint64, 16)); err == nil {
		t.Error("9 hashes were accepted")
	}
}
