package mem

import (
	"errors"
	"path/filepath"
	"testing"
)

// failing gives out so many blocks and then refuses.
type failing struct {
	Allocator
	left int
}

func (f *failing) Words(n uint64) ([]uint64, error) {
	if f.left == 0 {
		return nil, errors.New("disk quota")
	}
	f.left--
	return f.Allocator.Words(n)
}

func TestReopenedWordsSurviveAFailedGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w")
	f, err := CreateFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := NewArray(4, 8, f)
	if err := a.Grow(64); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(64) {
		a.At(i)[0] = i + 1
	}
	f.Close()

	g, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	b, _ := NewArray(4, 8, &failing{g, 5})
	if err := b.Grow(128); err == nil {
		t.Fatal("wanted a failure")
	}
	b.from = g
	if err := b.Grow(64); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(64) {
		if b.At(i)[0] != i+1 {
			t.Fatalf("element %d is %d, was %d", i, b.At(i)[0], i+1)
		}
	}
}
