package pattern

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// naive finds the first pattern that a text completes, byte by byte, and begins anew
// after each.
func naive(patterns []Pattern, text []byte) int {
	for end := range text {
		best, length := -1, 0
		for i, p := range patterns {
			want, got := p.Payload(), text[:end+1]
			if len(want) <= length || len(want) > len(got) {
				continue
			}
			got = got[len(got)-len(want):]
			if bytes.Equal(got, want) || p.NoCase && bytes.Equal(bytes.ToLower(got), bytes.ToLower(want)) {
				best, length = i, len(want)
			}
		}
		if best >= 0 {
			return best
		}
	}
	return -1
}

// TestStreamsFindWhatASearchFinds has random patterns over few letters, some in either
// case, in texts that are cut at random places.
func TestStreamsFindWhatASearchFinds(t *testing.T) {
	const letters = "abAB.C"
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		text := func(n int) (b []byte) {
			for range n {
				b = append(b, letters[r.IntN(len(letters))])
			}
			return b
		}
		var list []Pattern
		least := 1 + int(seed)%12 // the search leaps as far as the shortest one allows
		for i := range 1 + r.IntN(12) {
			list = append(list, Pattern{Name: fmt.Sprint(i), Bytes: text(least + r.IntN(7)), NoCase: r.IntN(2) == 0})
		}
		a, err := Compile(list)
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Stream()
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			part := list[r.IntN(len(list))].Bytes
			part = part[r.IntN(2)*r.IntN(len(part)):]
			whole := slices.Concat(text(r.IntN(20)), bytes.Repeat([]byte("z"), r.IntN(20)), part, text(r.IntN(3)))
			got, node := int32(-1), uint32(0)
			for rest := whole; len(rest) > 0 && got < 0; {
				n := 1 + r.IntN(len(rest))
				node, got = s.Find(node, rest[:n])
				rest = rest[n:]
			}
			want := naive(list, whole) // of equal length another one may be found
			if (got < 0) != (want < 0) || got >= 0 && len(list[got].Bytes) != len(list[want].Bytes) {
				t.Fatalf("seed %d, %q: pattern %d, want %d of %v", seed, whole, got, want, list)
			}
		}
	}
}

// TestStreamsBeginAnewAfterAMatch counts as the gate does: one packet, one match.
func TestStreamsBeginAnewAfterAMatch(t *testing.T) {
	a, err := Compile([]Pattern{{Name: "x", Bytes: []byte("aba")}, {Name: "w", Words: []uint32{0x41424344}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Stream()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"ababa": "1 0", "abaaba": "0 0", "..ABCDab": "2 1", "ab": "2 -1", "": "0 -1"} {
		node, match := s.Find(0, []byte(text))
		if got := fmt.Sprint(node2depth(s, node), match); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// node2depth returns how many letters of "aba" lead to a node.
func node2depth(s *Stream, node uint32) int {
	for n := range 3 {
		if at, _ := s.Find(0, []byte("aba"[:n])); at == node {
			return n
		}
	}
	return -1
}

func TestTooManyPatternsAreAnError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	var list []Pattern
	for i := range 400 {
		b := make([]byte, MaxBytes)
		for j := range b {
			b[j] = byte(r.Uint32())
		}
		list = append(list, Pattern{Name: fmt.Sprint(i), Bytes: b})
	}
	a, err := Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Stream(); err == nil || !strings.Contains(err.Error(), "leave some out") {
		t.Errorf("%v", err)
	}
}

func TestTextAndHexAreRead(t *testing.T) {
	const text = `
# comment
words: 00000001 00000010000000000000000000000011  # two
plain: "GET /evil"
mixed: "a|0d 0A|b\"\\\|;c#d" nocase # comment
bare: |de ad BEEF|
content:"/etc/passwd"; nocase; fast_pattern;
"quoted"
suri: content:"x|3a|y";
`
	list, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Write(&out, list); err != nil {
		t.Fatal(err)
	}
	const want = `words: 00000001 02000003
plain: "GET /evil"
mixed: "a|0d||0a|b\"\\\|;c#d" nocase
bare: "|de||ad||be||ef|"
line 7: "/etc/passwd" nocase
line 8: "quoted"
suri: "x:y"
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	again, err := Read(&out)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(list) {
		t.Errorf("%v: %v", err, again)
	}
	for line, want := range map[string]string{
		`a: "open`:                               "no quote behind",
		`a: "x|0`:                                "no bar behind",
		`a: |0g|`:                                "not pairs of hexadecimal",
		`a: ""`:                                  "the text is empty",
		`a: "x" offset`:                          `"offset" behind the text`,
		`content:!"x"`:                           "absent",
		`a: "` + strings.Repeat("x", 1025) + `"`: "1025 bytes, must be 1 to 1024",
	} {
		if _, err := Read(strings.NewReader(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: %v, want %q", line, err, want)
		}
	}
}

// TestDamagedListsAreHarmless changes bytes of a list at random: what can be read can be
// compiled, searched for and written.
func TestDamagedListsAreHarmless(t *testing.T) {
	const list = "w: 00000001 deadbeef\na: \"GET /|0d 0a|\\\"x\" nocase # c\nb: |de ad|\ncontent:\"x\"; nocase;\n"
	r := rand.New(rand.NewPCG(2, 0))
	for range effort.PickVariant(500, 2000, 100_000) {
		text := []byte(list)
		for range 1 + r.IntN(5) {
			text[r.IntN(len(text))] = " \"|:;#\\\n0aZ\xff"[r.IntN(12)]
		}
		patterns, err := Read(bytes.NewReader(text[:1+r.IntN(len(text))]))
		if err != nil {
			continue
		}
		a, err := Compile(patterns)
		if err != nil {
			t.Fatalf("%q: read and not compiled: %v", text, err)
		}
		s, err := a.Stream()
		if err != nil {
			t.Fatal(err)
		}
		s.Find(0, text)
		var out bytes.Buffer
		if err := Write(&out, patterns); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out)
		if err != nil || fmt.Sprint(again) != fmt.Sprint(patterns) {
			t.Fatalf("%q: written and read again: %v, %v, want %v", text, again, err, patterns)
		}
	}
}

// TestNodesHaveTheSameNumbersAlways is what states that outlive the process rely on.
func TestNodesHaveTheSameNumbersAlways(t *testing.T) {
	list := []Pattern{{Name: "a", Bytes: []byte("evil")}, {Name: "b", Bytes: []byte("Fox"), NoCase: true}, {Name: "c", Bytes: []byte("gnu")}, {Name: "d", Words: []uint32{1, 2}}}
	first, err := newStream(list)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if again, err := newStream(list); err != nil || !slices.Equal(first.next, again.next) {
			t.Fatalf("%v: other numbers", err)
		}
	}
}
