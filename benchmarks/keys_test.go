package main

import "testing"

func TestOrderVisitsEveryNumberOnce(t *testing.T) {
	for _, n := range []uint64{2, 3, 7, 10, 1000, 1024, 9973, 30030} {
		for salt := range uint64(5) {
			o, seen := newOrder(n, salt), make([]bool, n)
			for range n {
				i := o.next()
				if i >= n || seen[i] {
					t.Fatalf("n = %d, salt %d: %d comes twice or is out of range", n, salt, i)
				}
				seen[i] = true
			}
		}
	}
}

func TestSkipIsManyNexts(t *testing.T) {
	for _, n := range []uint64{2, 1000, 1 << 31} {
		o := newOrder(n, 3)
		walked := *o
		for range 777 {
			walked.next()
		}
		if skipped := o.skip(777); *skipped != walked {
			t.Errorf("n = %d: skip gives %+v, walking %+v", n, *skipped, walked)
		}
	}
}

// keysOf returns the keys of b as strings.
func keysOf(b block) (keys []string) {
	addAll(b, func(k []byte) { keys = append(keys, string(k)) })
	return keys
}

// numbered returns the set of the keys of a keyspace.
func numbered(s keyspace) map[string]bool {
	b := newBlock(int(s.n), s.size)
	s.present(b, newOrder(s.n, 1))
	set := map[string]bool{}
	for _, k := range keysOf(b) {
		set[k] = true
	}
	return set
}

func TestPresentKeysAreDistinct(t *testing.T) {
	for _, size := range []int{8, 12, 16, 40} {
		if got := len(numbered(keyspace{n: 5000, size: size, seed: 1})); got != 5000 {
			t.Errorf("%d-byte keys: %d different ones of 5000", size, got)
		}
	}
}

func TestHitsArePresent(t *testing.T) {
	s := keyspace{n: 300, size: 16, seed: 2}
	present, b, seen := numbered(s), newBlock(5000, 16), map[string]bool{}
	s.hits(b, 9)
	for _, k := range keysOf(b) {
		if !present[k] {
			t.Fatalf("%x is absent", k)
		}
		seen[k] = true
	}
	if len(seen) < 295 {
		t.Errorf("5000 hits reach only %d of 300 present", len(seen))
	}
}

func TestMissesAreNeitherPresentNorRepeated(t *testing.T) {
	s := keyspace{n: 3000, size: 8, seed: 3}
	seen, b := numbered(s), newBlock(4000, 8)
	for salt := range uint64(3) {
		s.misses(b, salt)
		for _, k := range keysOf(b) {
			if seen[k] {
				t.Fatalf("salt %d: %x is present or came before", salt, k)
			}
			seen[k] = true
		}
	}
}
