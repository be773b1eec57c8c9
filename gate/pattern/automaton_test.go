package pattern

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func compile(t *testing.T, lists ...[]uint32) *Automaton {
	t.Helper()
	var patterns []Pattern
	for i, words := range lists {
		patterns = append(patterns, Pattern{Name: string(rune('A' + i)), Words: words})
	}
	a, err := Compile(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// matches feeds words and returns which pattern is complete after each; as the
// gate does it, the stream restarts after a match.
func matches(a *Automaton, words []uint32) []int {
	var out []int
	at := uint32(0)
	for _, w := range words {
		at = a.Next(at, w)
		m := a.Match(at)
		if m >= 0 {
			at = 0
		}
		out = append(out, m)
	}
	return out
}

func TestMatchesAreFoundWhereverTheyBegin(t *testing.T) {
	for _, c := range []struct {
		name     string
		patterns [][]uint32
		words    []uint32
		want     []int
	}{
		{"nothing to find", nil, []uint32{1, 2}, []int{-1, -1}},
		{"single word", [][]uint32{{7}}, []uint32{1, 7, 7}, []int{-1, 0, 0}},
		{"word zero", [][]uint32{{0, 0}}, []uint32{0, 0, 0, 0}, []int{-1, 0, -1, 0}},
		{"restart inside itself", [][]uint32{{1, 1, 2}}, []uint32{1, 1, 1, 2}, []int{-1, -1, -1, 0}},
		{"fail to another beginning", [][]uint32{{1, 2, 3, 4}, {2, 3, 5}}, []uint32{1, 2, 3, 5}, []int{-1, -1, -1, 1}},
		{"fail twice", [][]uint32{{1, 2, 3, 4}, {2, 3, 6}, {3, 5}}, []uint32{1, 2, 3, 5}, []int{-1, -1, -1, 2}},
		{"inner pattern is first", [][]uint32{{1, 2, 3, 4}, {2, 3}}, []uint32{1, 2, 3, 4}, []int{-1, -1, 1, -1}},
		{"longest of those that end together", [][]uint32{{3}, {2, 3}, {1, 2, 3}}, []uint32{1, 2, 3}, []int{-1, -1, 2}},
		{"matches do not overlap", [][]uint32{{1, 2, 1}}, []uint32{1, 2, 1, 2, 1}, []int{-1, -1, 0, -1, -1}},
		{"first of equals", [][]uint32{{4, 5}, {4, 5}}, []uint32{4, 5}, []int{-1, 0}},
	} {
		if got := matches(compile(t, c.patterns...), c.words); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// longestEnd is the definition: the longest pattern that the words since the last
// match end with.
func longestEnd(patterns []Pattern, words []uint32) int {
	best := -1
	for i, p := range patterns {
		n := len(p.Words)
		if n <= len(words) && slices.Equal(p.Words, words[len(words)-n:]) && (best < 0 || n > len(patterns[best].Words)) {
			best = i
		}
	}
	return best
}

func TestAutomatonAgreesWithTheDefinition(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		letters := 1 + r.IntN(4) // few, so that patterns overlap
		word := func() uint32 { return uint32(r.IntN(letters)) * 0x01000193 }
		lists := make([][]uint32, r.IntN(12))
		for i := range lists {
			for range 1 + r.IntN(MaxWords) {
				lists[i] = append(lists[i], word())
			}
		}
		a := compile(t, lists...)
		at, since := uint32(0), []uint32{}
		for step := range 300 {
			w := word()
			since = append(since, w)
			at = a.Next(at, w)
			got, want := a.Match(at), longestEnd(a.Patterns(), since)
			if got != want {
				t.Fatalf("seed %d, word %d: match %d, want %d", seed, step, got, want)
			}
			if got >= 0 {
				at, since = 0, nil
			}
		}
	}
}

func TestShadowedPatternsAreNamed(t *testing.T) {
	a := compile(t, []uint32{1, 2, 3}, []uint32{1, 2}, []uint32{9, 2}, []uint32{5, 9, 2, 7}, []uint32{4, 9, 2}, []uint32{9, 2})
	if got, want := a.Shadowed(), []int{0, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("shadowed: %v, want %v", got, want)
	}
	if got := compile(t, []uint32{1}, []uint32{2, 3}).Shadowed(); len(got) != 0 {
		t.Errorf("shadowed: %v, want none", got)
	}
}

func TestWordsAreAllThatBeginOrContinueAPattern(t *testing.T) {
	a := compile(t, []uint32{3, 1, 3}, []uint32{2, 1})
	if got, want := a.Words(), []uint32{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("words: %v, want %v", got, want)
	}
	if len(a.nodes) != 6 || a.Next(0, 4) != 0 {
		t.Errorf("%d nodes, a word of no pattern leads to %d", len(a.nodes), a.Next(0, 4))
	}
}

func TestTablesStaySmall(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	lists := make([][]uint32, 64)
	for i := range lists {
		for range 8 {
			lists[i] = append(lists[i], r.Uint32())
		}
	}
	if got := compile(t, lists...).Bytes(); got > 30_000 {
		t.Errorf("seed %d: 64 patterns of 8 words take %d bytes", seed, got)
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	a := compile(t, []uint32{1, 2, 3}, []uint32{2, 3, 4})
	at := uint32(0)
	if n := testing.AllocsPerRun(100, func() {
		at = a.Next(at, 2)
		_ = a.Match(at)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
