package main

import "testing"

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
