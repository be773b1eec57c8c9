package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/exampletest"
)

func TestMain(m *testing.M)    { exampletest.Main(m, main) }
func TestSamples(t *testing.T) { exampletest.Samples(t) }

func TestEachLineIsPrintedOnce(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	var out strings.Builder
	if err := dedup(strings.NewReader("a\nb\na\n"+long+"\nc\nb\n"+long), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "a\nb\n"+long+"\nc\n" {
		t.Errorf("got %d bytes", out.Len())
	}
}

func TestFewLinesAreLost(t *testing.T) {
	const n = 50_000
	var in, out strings.Builder
	for i := range n {
		fmt.Fprintln(&in, i)
	}
	if err := dedup(strings.NewReader(in.String()), &out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\n"); got < n-n/500 {
		t.Errorf("%d of %d lines", got, n)
	}
}

func TestLinesBeforeATooLongOneAreNotLost(t *testing.T) {
	var out strings.Builder
	err := dedup(strings.NewReader("a\nb\n"+strings.Repeat("x", maxLine+1)), &out)
	if !errors.Is(err, bufio.ErrTooLong) || out.String() != "a\nb\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
