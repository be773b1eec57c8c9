package timing

import "testing"

func TestClocksGoForward(t *testing.T) {
	Pinned(func() {
		for name, now := range map[string]Clock{"wall": Wall, "thread": Thread} {
			before := now()
			work := 0
			for now() == before {
				work++
			}
			if after := now(); after < before {
				t.Errorf("%s: %v after %v", name, after, before)
			}
			t.Log(name, "moved after", work, "looks")
		}
	})
}
