package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

func TestLinesFindTheirPartners(t *testing.T) {
	for _, c := range []struct {
		name, left, right, want string
	}{
		{"nothing in common", "a 1\n", "b 1\nc 1\n", ""},
		{"larger on the right", "a 1\n", "b 2\na 3\n", "a 1 3\n"},
		{"larger on the left", "b 2\na 3\n", "a 1\n", "a 3 1\n"},
		{"every pair", "a 1\na 2\n", "a 3\na 4\nb 5\n", "a 1 3\na 1 4\na 2 3\na 2 4\n"},
		{"in the order of the smaller", "c 1\na 1\nb 1\n", "a 2\nb 2\nc 2\nd 2\n", "c 1 2\na 1 2\nb 1 2\n"},
		{"tabs and several columns", "a\t1\t2\n", "b\nc\na x y\n", "a\t1\t2 x y\n"},
		{"only words", "a\n", "b\na\n", "a\n"},
		{"no last newline", "a 1", "b\na 2", "a 1 2\n"},
		{"empty lines are words, too", "\n", "a 1\n\n", "\n"},
		{"one is empty", "", "a 1\n", ""},
		{"both are", "", "", ""},
	} {
		var out strings.Builder
		_, _, err := join(strings.NewReader(c.left), strings.NewReader(c.right), &out)
		if err != nil || out.String() != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.name, out.String(), err, c.want)
		}
	}
}

// TestJoinIsThatOfNestedLoops also counts what the filter is for.
func TestJoinIsThatOfNestedLoops(t *testing.T) {
	const few, many, words = 300, 3_000, 30_000
	rng := rand.New(rand.NewPCG(11, 12))
	file := func(lines int) (out []string) {
		for i := range lines {
			out = append(out, fmt.Sprintf("word%d line%d", rng.IntN(words), i))
		}
		return out
	}
	small, large := file(few), file(many)
	var want []string
	needed := map[string]bool{}
	for _, s := range small {
		for _, l := range large {
			word, rest, _ := strings.Cut(l, " ")
			if strings.HasPrefix(s, word+" ") {
				want = append(want, s+" "+rest)
				needed[l] = true
			}
		}
	}
	var out strings.Builder
	lines, skipped, err := join(strings.NewReader(strings.Join(small, "\n")), strings.NewReader(strings.Join(large, "\n")), &out)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d pairs, and %d by nested loops", len(got), len(want))
	}
	// One in a hundred for nothing makes 30; 60 is five standard deviations more.
	if wrong := lines - skipped - len(needed); lines != many || wrong < 0 || wrong > 60 {
		t.Errorf("of %d lines %d were skipped, and %d had a partner", lines, skipped, len(needed))
	}
}

func TestErrorsComeThrough(t *testing.T) {
	good := func() io.ReadSeeker { return strings.NewReader("a 1\nb 2\n") }
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer w.Close()
	long := strings.NewReader(strings.Repeat("a", 1<<17))
	if _, _, err := join(good(), pipe, io.Discard); err == nil {
		t.Error("a pipe, which cannot be read twice, was joined")
	}
	if _, _, err := join(pipe, good(), io.Discard); err == nil {
		t.Error("a pipe, which cannot be read twice, was joined")
	}
	if _, _, err := join(good(), long, io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	if _, _, err := join(long, good(), io.Discard); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
	if _, _, err := join(good(), good(), closed{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("an output that is closed: %v", err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }
