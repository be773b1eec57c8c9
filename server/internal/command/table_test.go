package command

import "testing"

// TestEveryCommandHasItsKey has no command run without the key that it is about.
func TestEveryCommandHasItsKey(t *testing.T) {
	for _, cmd := range NewTable().Commands() {
		for n := range cmd.First + 1 {
			if cmd.Takes(n) {
				t.Errorf("%s takes %d words, and its key is word %d", cmd.Name, n, cmd.First)
			}
		}
	}
}
