package main

import "testing"

func TestDistanceCountsLetters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"one/god", "one/good", 1}, {"one/goood", "one/good", 1}, {"one/gold", "one/good", 1}, {"ab", "ba", 2}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestGuessesAreFew(t *testing.T) {
	e := testEnv(nil, nil, nil)
	for pattern, want := range map[string]string{
		"on":         "did you mean one or one/good or one/known?",
		"one/god":    "did you mean one/good?",
		"surprise":   "did you mean two/surprise?",
		"frobnicate": "everbloom lab list shows all",
		"one/x":      "did you mean one?",
	} {
		if got := e.guess(pattern); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}
