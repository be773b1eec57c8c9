package filtertest

import "testing"

// TestCheckerTellsGoodFromBad makes sure that the checker can reject.
func TestCheckerTellsGoodFromBad(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []event
		want   bool
	}{
		{"in order", []event{{"add", true, 1, 2}, {"may", true, 3, 4}, {"delete", true, 5, 6}, {"may", false, 7, 8}}, true},
		{"a false positive", []event{{"may", true, 1, 2}}, true},
		{"absent after add", []event{{"add", true, 1, 2}, {"may", false, 3, 4}}, false},
		{"absent beside add", []event{{"add", true, 1, 4}, {"may", false, 2, 3}}, true},
		{"added twice", []event{{"add", true, 1, 2}, {"add", true, 3, 4}}, false},
		{"added twice at once", []event{{"add", true, 1, 4}, {"add", true, 2, 3}}, false},
		{"deleted between", []event{{"add", true, 1, 2}, {"delete", true, 2, 6}, {"add", true, 3, 5}}, true},
		{"seen, then not", []event{{"add", true, 1, 9}, {"contains", true, 2, 3}, {"may", false, 4, 5}}, false},
	} {
		if got := linearizable(c.events, false); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
