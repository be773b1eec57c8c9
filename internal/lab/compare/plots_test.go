package compare

import "testing"

// Two kinds of one colour could not be told apart, and a new kind would get one that
// another has in the next plot.
func TestEveryKindHasAColourOfItsOwn(t *testing.T) {
	taken := map[int]string{}
	for _, x := range entrants() {
		c := colours[x.name]
		if c == 0 || taken[c] != "" {
			t.Errorf("%s has colour %d, which %q has", x.name, c, taken[c])
		}
		taken[c] = x.name
	}
}
