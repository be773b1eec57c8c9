package mem

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"unsafe"
)

func TestBlocksAreAlignedExactAndZero(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	sizes := []uint64{8 << 10 / 8, 32 << 10 / 8, hugeFrom/8 - 1, hugeFrom / 8, hugeFrom/8 + 1}
	for n := range uint64(1100) {
		sizes = append(sizes, n)
	}
	for range 100 {
		sizes = append(sizes, rng.Uint64N(1<<14))
	}
	for _, n := range sizes {
		words, err := Words(n)
		if err != nil {
			t.Fatalf("seed %d: Words(%d): %v", seed, n, err)
		}
		checkBlock(t, words, n)
		// Later blocks that reuse this memory must be zero again.
		dirty(words)
	}
}

func checkBlock(t *testing.T, words []uint64, n uint64) {
	t.Helper()
	if uint64(len(words)) != n || cap(words) != len(words) {
		t.Fatalf("asked for %d words: len %d, cap %d", n, len(words), cap(words))
	}
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(words))); n > 0 && at%lineBytes != 0 {
		t.Fatalf("%d words begin %d bytes behind a line", n, at%lineBytes)
	}
	for i, w := range words {
		if w != 0 {
			t.Fatalf("%d words: word %d is %#x", n, i, w)
		}
	}
}

func TestBlockTakesOneAllocation(t *testing.T) {
	unchecked.left.Store(1 << 30) // or one of them would ask the machine
	for _, n := range []uint64{1, 8, 100, 5000} {
		if allocs := testing.AllocsPerRun(20, func() { sink, _ = Words(n) }); allocs != 1 {
			t.Errorf("Words(%d): %v allocations", n, allocs)
		}
	}
}

func TestWordsToLineFindsTheNextLine(t *testing.T) {
	words := takeAligned(24)
	for i := range 16 {
		if got, want := wordsToLine(words[i:]), (8-i%8)%8; got != want {
			t.Errorf("from word %d: %d words to the next line, want %d", i, got, want)
		}
	}
}

func TestSizesBeyondTheMachineAreRefused(t *testing.T) {
	sizes := []uint64{math.MaxUint64, math.MaxUint64 / 8, math.MaxUint64/8 + 1, 1 << 61, math.MaxInt64 / 8, 1 << 44, 1 << 43}
	if strconv.IntSize == 32 {
		sizes = append(sizes, 1<<28, 1<<29, 1<<32)
	}
	for _, n := range sizes {
		if words, err := Words(n); !errors.Is(err, ErrMemory) || words != nil {
			t.Errorf("Words(%d): %d words, error %v", n, len(words), err)
		}
	}
}

func TestHeapLimitHoldsForEverySize(t *testing.T) {
	h := Heap{Limit: 80}
	if words, err := h.Words(10); err != nil || len(words) != 10 {
		t.Errorf("10 words under a limit of 80 bytes: %v", err)
	}
	_, err := h.Words(11)
	const want = "mem: block of 88 B: at most 80 B by the allocator's limit: not enough memory"
	if !errors.Is(err, ErrMemory) || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestRefusalNamesSizeLimitAndSource(t *testing.T) {
	small := func() limit { return limit{100 << 20, "a test"} }
	err := Heap{}.check(3<<30/16, small)
	const want = "block of 1.50 GiB: at most 100 MiB by a test: not enough memory"
	if !errors.Is(err, ErrMemory) || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if err := (Heap{}).check(100<<20/8, small); err != nil {
		t.Errorf("exactly the limit is refused: %v", err)
	}
}

var sink []uint64

func dirty(words []uint64) {
	for i := range words {
		words[i] = ^uint64(0)
	}
}

func TestCloneIsACopy(t *testing.T) {
	words := []uint64{1, 2, 3}
	got, err := Clone(words)
	if err != nil || !slices.Equal(got, words) || &got[0] == &words[0] {
		t.Errorf("%v, %v", got, err)
	}
	if empty, err := Clone(nil); err != nil || len(empty) != 0 {
		t.Errorf("of nothing: %v, %v", empty, err)
	}
}
