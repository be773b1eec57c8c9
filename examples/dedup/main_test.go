package main

import (
	"strings"
	"testing"
)

func TestEachLineIsPrintedOnce(t *testing.T) {
	var out strings.Builder
	if err := dedup(strings.NewReader("a\nb\na\nc\nb\n"), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "a\nb\nc\n" {
		t.Errorf("got %q", out.String())
	}
}
