package perennial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A plainLine is a line as a list of buckets.
type plainLine struct {
	in      int
	buckets [][]uint64
}

func (p plainLine) slots() (n uint) {
	for _, b := range p.buckets {
		n += uint(len(b))
	}
	return n
}

func (p plainLine) extent() extent { return extent{uint(len(p.buckets)), p.slots()} }

// wantLine compares a line with what it should be, bit by bit.
func wantLine(t *testing.T, l *line, want plainLine, w uint) {
	t.Helper()
	if l.in() != want.in || l.held() != len(want.buckets) || l.extent().slots != want.slots() {
		t.Fatalf("%d buckets, %d from before, %d slots, want %d, %d and %d",
			l.held(), l.in(), l.extent().slots, len(want.buckets), want.in, want.slots())
	}
	for i, b := range want.buckets {
		var got []uint64
		first, count := l.find(i)
		for j := range count {
			got = append(got, l.slot(first+j, w))
		}
		if !slices.Equal(got, b) {
			t.Fatalf("bucket %d: %x, want %x", i, got, b)
		}
	}
	end := l.end(l.held())
	if low := lineBits - want.slots()*w; !l.isClear(end, low) {
		t.Fatalf("bits are set between %d and %d", end, low)
	}
}

func TestLinesHoldWhatIsPutIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, w := range []uint{minWidth, 12, 15, 31, maxWidth} {
		var a, b line
		plain := [2]plainLine{{0, make([][]uint64, 20)}, {3, make([][]uint64, 30)}}
		a.setHead(0, 20)
		b.setHead(3, 30)
		for range 20_000 {
			tryLine(rng, w, [2]*line{&a, &b}, &plain)
			wantLine(t, &a, plain[0], w)
			wantLine(t, &b, plain[1], w)
		}
	}
}

// tryLine does something at random to two lines that follow each other.
func tryLine(rng *rand.Rand, w uint, lines [2]*line, plain *[2]plainLine) {
	i := rng.IntN(2)
	l, p := lines[i], &plain[i]
	idx := rng.IntN(max(1, len(p.buckets)))
	switch op := rng.IntN(8); {
	case len(p.buckets) == 0 || op == 0:
		moveBack(w, lines, plain)
	case op == 1:
		moveOn(w, lines, plain)
	case op < 5 && len(p.buckets[idx]) > 0:
		at := rng.IntN(len(p.buckets[idx]))
		first, _ := l.find(idx)
		l.remove(l.extent(), headBits+uint(idx)+first, first+uint(at), w)
		p.buckets[idx] = slices.Delete(p.buckets[idx], at, at+1)
	case p.extent().with(0, 1).fits(w):
		at, v := rng.IntN(len(p.buckets[idx])+1), rng.Uint64()>>(64-w)
		first, _ := l.find(idx)
		l.insert(l.extent(), headBits+uint(idx)+first, first+uint(at), w, v)
		p.buckets[idx] = slices.Insert(p.buckets[idx], at, v)
	}
}

// moveOn pushes the last bucket of the first line to the second, if there is room.
func moveOn(w uint, lines [2]*line, plain *[2]plainLine) {
	a, b := &plain[0], &plain[1]
	n := len(a.buckets) - 1
	if n < 0 || !b.extent().with(1, uint(len(a.buckets[n]))).fits(w) {
		return
	}
	if got, want := lines[0].lastCount(a.extent()), uint(len(a.buckets[n])); got != want {
		panic(fmt.Sprintf("the last bucket has %d slots, want %d", got, want))
	}
	lines[0].pushTail(lines[1], a.extent(), b.extent(), extent{1, uint(len(a.buckets[n]))}, w)
	b.buckets = slices.Insert(b.buckets, 0, a.buckets[n])
	a.buckets = a.buckets[:n]
	b.in++
}

// moveBack pulls the first bucket of the second line into the first, if there is room.
func moveBack(w uint, lines [2]*line, plain *[2]plainLine) {
	a, b := &plain[0], &plain[1]
	if b.in == 0 || len(b.buckets) == 0 || !a.extent().with(1, uint(len(b.buckets[0]))).fits(w) {
		return
	}
	lines[0].pullHead(lines[1], a.extent(), b.extent(), extent{1, uint(len(b.buckets[0]))}, w)
	a.buckets = append(a.buckets, b.buckets[0])
	b.buckets = slices.Delete(b.buckets, 0, 1)
	b.in--
}

func TestSelectFindsEveryOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		w := rng.Uint64() & rng.Uint64()
		k := uint(0)
		for i := range uint(64) {
			if w>>i&1 == 1 {
				if got := selectOne(w, k); got != i {
					t.Fatalf("one %d of %x is at %d, want %d", k, w, got, i)
				}
				k++
			}
		}
	}
}
