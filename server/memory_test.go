package server

import "testing"

func TestGarbageIsBounded(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	for _, c := range []struct{ live, least, most uint64 }{
		{1 * mib, 0, 32 * mib},
		{40 * mib, 30 * mib, 32 * mib},
		{1 * gib, gib / 6, gib / 4},
		{60 * gib, gib / 2, 2 * gib},
	} {
		if got := c.live * uint64(percentFor(c.live)) / 100; got < c.least || got > c.most {
			t.Errorf("%d MiB beside %d MiB", got/mib, c.live/mib)
		}
	}
}
