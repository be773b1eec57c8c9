package packed

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWordsForIsTheCeiling(t *testing.T) {
	for _, tc := range []struct {
		n     uint64
		width int
		want  uint64
	}{
		{0, 1, 0},
		{1, 1, 1},
		{64, 1, 1},
		{65, 1, 2},
		{2, 32, 1},
		{3, 32, 2},
		{9, 7, 1},
		{10, 7, 2},
		{64, 31, 31},
		{math.MaxUint64, 1, 1 << 58},
		{math.MaxUint64 / 32, 32, 1 << 58},
	} {
		got, err := WordsFor(tc.n, tc.width)
		if err != nil || got != tc.want {
			t.Errorf("WordsFor(%d, %d) = %d, %v, want %d", tc.n, tc.width, got, err, tc.want)
		}
	}
}

func TestImpossibleShapesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		n     uint64
		width int
		text  string
	}{
		{1, 0, "packed: width: 0 bits, must be 1 to 32: impossible shape"},
		{1, -1, "packed: width: -1 bits, must be 1 to 32: impossible shape"},
		{1, 33, "packed: width: 33 bits, must be 1 to 32: impossible shape"},
		{1 << 63, 2, "packed: length: 9223372036854775808 values of 2 bits are more than 2^64 bits: impossible shape"},
	} {
		_, errWords := WordsFor(tc.n, tc.width)
		_, errNew := New(tc.n, tc.width)
		_, errMake := Make(nil, tc.n, tc.width)
		for _, err := range []error{errWords, errNew, errMake} {
			if !errors.Is(err, ErrShape) || err.Error() != tc.text {
				t.Errorf("%d values of %d bits: error %q, want %q", tc.n, tc.width, err, tc.text)
			}
		}
	}
}

func TestNewRefusesWhatNeedsAnAllocator(t *testing.T) {
	for _, n := range []uint64{newLimit*2 + 1, 1 << 40, math.MaxUint64 / 32} {
		if _, err := New(n, 32); !errors.Is(err, ErrShape) {
			t.Errorf("New(%d, 32): error %v", n, err)
		}
	}
}

func TestMakeNeedsEnoughWords(t *testing.T) {
	_, err := Make(make([]uint64, 1, 8), 10, 7)
	const want = "packed: words: 1 given, 10 values of 7 bits need 2: impossible shape"
	if !errors.Is(err, ErrShape) || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

func TestMakeUsesWordsAsTheyAre(t *testing.T) {
	words := []uint64{0x0123456789abcdef, 0xfedcba9876543210, 77}
	a, err := Make(words, 8, 16)
	if err != nil {
		t.Fatal(err)
	}
	want := []uint32{0xcdef, 0x89ab, 0x4567, 0x0123, 0x3210, 0x7654, 0xba98, 0xfedc}
	if got := values(&a); !slices.Equal(got, want) {
		t.Errorf("values %x, want %x", got, want)
	}
	a.Set(7, 0)
	if words[1] != 0x0000ba9876543210 || words[2] != 77 {
		t.Errorf("words %x: not shared, or touched beyond the last value", words)
	}
	if a.Len() != 8 || a.Width() != 16 || a.Max() != 0xffff || len(a.Words()) != 2 || cap(a.Words()) != 2 {
		t.Errorf("len %d, width %d, max %#x, words %d, cap %d", a.Len(), a.Width(), a.Max(), len(a.Words()), cap(a.Words()))
	}
}

// TestStraddlingLayout pins the place of every bit: files hold these words.
func TestStraddlingLayout(t *testing.T) {
	a, err := New(6, 14)
	if err != nil {
		t.Fatal(err)
	}
	a.Set(4, 0x2aab)
	want := []uint64{0xab << 56, 0x2a}
	if !slices.Equal(a.Words(), want) {
		t.Errorf("words %#x, want %#x", a.Words(), want)
	}
}

// TestEveryWidthAgreesWithPlainSlice writes every index of every width over grounds of zeros, ones and noise and looks at all values after
// each write, so a disturbed neighbour cannot hide. 70 values pass each way a value of that width can lie in words.
func TestEveryWidthAgreesWithPlainSlice(t *testing.T) {
	const n, seed = 70, 3
	for width := 1; width <= maxWidth; width++ {
		rng := rand.New(rand.NewPCG(seed, uint64(width)))
		for _, ground := range []func() uint32{
			func() uint32 { return 0 },
			func() uint32 { return math.MaxUint32 },
			rng.Uint32,
		} {
			a, plain := filled(t, n, width, ground)
			for i := range uint64(n) {
				for _, v := range []uint32{0, math.MaxUint32, rng.Uint32()} {
					a.Set(i, v)
					plain[i] = v & a.Max()
					if !slices.Equal(values(&a), plain) {
						t.Fatalf("seed %d: width %d: after Set(%d, %#x):\n got %x\nwant %x", seed, width, i, v, values(&a), plain)
					}
				}
			}
		}
	}
}

// TestNothingOutsideIsTouched surrounds the array with guard words and fills it to the last bit.
func TestNothingOutsideIsTouched(t *testing.T) {
	for width := 1; width <= maxWidth; width++ {
		for n := range uint64(67) {
			for _, guard := range []uint64{0, math.MaxUint64} {
				need, err := WordsFor(n, width)
				if err != nil {
					t.Fatal(err)
				}
				block := slices.Repeat([]uint64{guard}, int(need)+2)
				a, err := Make(block[1:1+need], n, width)
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					a.Set(i, ^uint32(guard))
					a.Get(i)
				}
				checkGuards(t, block, guard, n, width)
			}
		}
	}
}

func checkGuards(t *testing.T, block []uint64, guard, n uint64, width int) {
	t.Helper()
	inside := block[1 : len(block)-1]
	if block[0] != guard || block[len(block)-1] != guard {
		t.Fatalf("width %d, %d values: a word outside was changed", width, n)
	}
	used := n * uint64(width) % wordBits
	if used != 0 && inside[len(inside)-1]>>used != guard>>used {
		t.Fatalf("width %d, %d values: bits behind the last value were changed", width, n)
	}
}

func TestIndexBehindTheWordsPanics(t *testing.T) {
	a, err := New(2, 32)
	if err != nil {
		t.Fatal(err)
	}
	mustPanic(t, "Get", func() { a.Get(2) })
	mustPanic(t, "Set", func() { a.Set(2, 1) })
	var zero Array
	mustPanic(t, "Get of the zero Array", func() { zero.Get(0) })
	mustPanic(t, "Set of the zero Array", func() { zero.Set(0, 0) })
}

func TestAccessDoesNotAllocate(t *testing.T) {
	a, err := New(100, 13)
	if err != nil {
		t.Fatal(err)
	}
	if allocs := testing.AllocsPerRun(10, func() { a.Set(4, a.Get(5)+1) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// FuzzCommands runs a list of writes against a plain slice: the first byte is the width, then three bytes make one
// write, its place and its value.
func FuzzCommands(f *testing.F) {
	f.Add([]byte{14, 4, 0xff, 0xff, 5, 0, 0, 4, 1, 2})
	f.Add([]byte{1, 63, 1, 0, 64, 1, 0})
	f.Add([]byte{31, 2, 0xff, 0xff, 3, 0xaa, 0x55, 199, 1, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		const n = 200
		a, err := New(n, int(in[0])%maxWidth+1)
		if err != nil {
			t.Fatal(err)
		}
		plain := make([]uint32, n)
		for in = in[1:]; len(in) >= 3; in = in[3:] {
			// The value is spread so that wide arrays see their high bits used as well.
			i, v := uint64(in[0])%n, (uint32(in[1])<<8|uint32(in[2]))*0x00010001
			a.Set(i, v)
			plain[i] = v & a.Max()
		}
		if !slices.Equal(values(&a), plain) {
			t.Errorf("width %d:\n got %x\nwant %x", a.Width(), values(&a), plain)
		}
	})
}

func filled(t *testing.T, n uint64, width int, ground func() uint32) (Array, []uint32) {
	t.Helper()
	a, err := New(n, width)
	if err != nil {
		t.Fatal(err)
	}
	plain := make([]uint32, n)
	for i := range plain {
		v := ground()
		a.Set(uint64(i), v)
		plain[i] = v & a.Max()
	}
	return a, plain
}

func values(a *Array) []uint32 {
	out := make([]uint32, a.Len())
	for i := range out {
		out[i] = a.Get(uint64(i))
	}
	return out
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}
