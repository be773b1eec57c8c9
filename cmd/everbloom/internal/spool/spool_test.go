package spool

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// room is small, so that the tests are quick.
const room = batchKeys + 777

// someKeys returns n keys that tell their place.
func someKeys(n int) []filter.Key {
	keys := make([]filter.Key, n)
	for i := range keys {
		keys[i] = filter.Key(i) * 0x9E3779B97F4A7C15
	}
	return keys
}

// fill appends n keys, in pieces of changing length.
func fill(t *testing.T, s *Spool, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for keys := someKeys(n); len(keys) > 0; {
		piece := min(len(keys), 1+rng.IntN(3*room))
		if err := s.Append(keys[:piece]); err != nil {
			t.Fatal(err)
		}
		keys = keys[piece:]
	}
}

func TestKeysComeBackInOrder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, n := range []int{0, 1, batchKeys, batchKeys + 1, room - 1, room, room + 1, 5*room + 12345} {
		s := Spool{room: room * keySize}
		fill(t, &s, n)
		if s.Len() != uint64(n) {
			t.Errorf("n = %d: Len = %d", n, s.Len())
		}
		if onDisk := s.file != nil; onDisk != (n > room) {
			t.Errorf("n = %d: file %v", n, onDisk)
		}
		want := someKeys(n)
		for pass := range 2 {
			got := make([]filter.Key, 0, n)
			err := s.Each(func(keys []filter.Key) error {
				got = append(got, keys...)
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("n = %d, pass %d: %d keys, not those that were appended, %v", n, pass, len(got), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNoFileIsLeft(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	s := Spool{room: room * keySize}
	fill(t, &s, room+1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestErrorsAreHandedOn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	stop := errors.New("stop")
	for _, n := range []int{10, room + 10} {
		s := Spool{room: room * keySize}
		fill(t, &s, n)
		calls := 0
		err := s.Each(func([]filter.Key) error { calls++; return stop })
		if !errors.Is(err, stop) || calls != 1 {
			t.Errorf("n = %d: %v after %d calls", n, err, calls)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}

	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	s := Spool{room: room * keySize}
	err := s.Append(make([]filter.Key, room+1))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
}
