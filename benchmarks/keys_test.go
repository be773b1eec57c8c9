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

func TestOrdersOfDifferentSaltsDiffer(t *testing.T) {
	a, b := newOrder(10_000, 1), newOrder(10_000, 2)
	same := 0
	for range 1000 {
		if a.next() == b.next() {
			same++
		}
	}
	if same > 10 {
		t.Errorf("%d of 1000 numbers stand at the same place in both orders", same)
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

func TestMembersAreDistinctKeys(t *testing.T) {
	for _, size := range []int{8, 12, 16, 40} {
		if got := len(numbered(keyspace{n: 5000, size: size, seed: 1})); got != 5000 {
			t.Errorf("%d-byte keys: %d different ones of 5000", size, got)
		}
	}
}

func TestHitsAreMembers(t *testing.T) {
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

func TestMissesAreNeitherMembersNorRepeated(t *testing.T) {
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

func TestSeedChangesTheKeys(t *testing.T) {
	a, b := make([]byte, 8), make([]byte, 8)
	keyspace{seed: 1}.put(a, 5)
	keyspace{seed: 2}.put(b, 5)
	if string(a) == string(b) {
		t.Errorf("key 5 is %x for two seeds", a)
	}
}

func TestLongKeysDifferInTheirLaterWords(t *testing.T) {
	key := make([]byte, 24)
	keyspace{seed: 1}.put(key, 5)
	if string(key[:8]) == string(key[8:16]) || string(key[8:16]) == string(key[16:]) {
		t.Errorf("words of %x are equal", key)
	}
}

func TestSliceTakesKeysNotBytes(t *testing.T) {
	b := block{[]byte("aaabbbcccddd"), 3}
	if got := string(b.slice(1, 3).data); got != "bbbccc" || b.len() != 4 {
		t.Errorf("slice(1, 3) = %q, len %d", got, b.len())
	}
}
