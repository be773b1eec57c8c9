package exampletest

import (
	"slices"
	"testing"
)

func TestSamplesAreCutOut(t *testing.T) {
	got := samples("Command a is.\n\n\tx  y\n\n\t$ one | two\n\t1\n\t 2\n\nText.\n\n\t$ three\n")
	want := []sample{{"one | two", "1\n 2\n"}, {"three", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
