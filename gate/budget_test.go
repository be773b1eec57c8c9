package gate

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
)

// TestSharesNeverExceedTheLimit tries random configurations. Gates that can be made stay
// within the memory, as planned and as made.
func TestSharesNeverExceedTheLimit(t *testing.T) {
	effort.OneGoroutine(t)
	const seed = 21
	r := rand.New(rand.NewPCG(seed, 0))
	made := 0
	for range 150 {
		c := Config{
			Kind:    Kinds()[r.IntN(4)], // elastic takes long
			Users:   1 + r.Uint64N(1<<(5+r.IntN(12))),
			Banned:  r.Uint64N(1 << (1 + r.IntN(12))),
			Memory:  1 << (14 + r.IntN(10)),
			Confirm: Confirmation(r.IntN(3)),
			Window:  time.Duration(r.IntN(2)) * time.Hour,
			Strikes: 1 + r.IntN(10),
		}
		e, err := New(c)
		if err != nil {
			continue
		}
		made++
		if e.Limit() != c.Memory || e.Bytes() > e.Limit() {
			t.Errorf("seed %d, %+v: %d bytes of %d", seed, c, e.Bytes(), e.Limit())
		}
		e.config.Patterns = e.patterns
		full, err := e.config.share(e.tracked.backing, e.exactBans != nil)
		if err != nil || full.total() > c.Memory {
			t.Errorf("seed %d, %+v: shares of %d bytes, %v", seed, c, full.total(), err)
		}
	}
	if made < 50 {
		t.Errorf("seed %d: only %d gates could be made", seed, made)
	}
}

// TestMoreMemoryNeverMeansAHigherRate holds for the plans of a set.
func TestMoreMemoryNeverMeansAHigherRate(t *testing.T) {
	effort.OneGoroutine(t)
	for _, kind := range Kinds() {
		b, err := backingOf(kind)
		if err != nil {
			t.Fatal(err)
		}
		last := 1.0
		for bits := b.bits / 2; bits <= 4*b.bits; bits *= 1.25 {
			p, err := b.fit(50_000, 50_000*bits)
			if err != nil {
				if last < 1 {
					t.Errorf("%s: %.0f bits are too few, fewer were not: %v", b.name, bits, err)
				}
				continue
			}
			if got := p.bits; got > 50_000*bits {
				t.Errorf("%s: %.0f bits per key, %.1f used", b.name, bits, got/50_000)
			}
			if p.fpr > last*1.01 {
				t.Errorf("%s: rate %g with %.0f bits, %g with fewer", b.name, p.fpr, bits, last)
			}
			last = min(last, p.fpr)
		}
		if last > 0.01 {
			t.Errorf("%s: rate %g with four times the usual memory", b.name, last)
		}
	}
}

// TestMoreMemoryMeansMoreStates goes far beyond the states of half the users: more
// memory is the remedy for lost strikes.
func TestMoreMemoryMeansMoreStates(t *testing.T) {
	effort.OneGoroutine(t)
	for _, kind := range Kinds() {
		free := gate(t, Config{Kind: kind, Users: 1000}).tracked.Info().FastBits
		c := Config{Kind: kind, Users: 1000, Memory: 1 << 24}
		last := 0
		for range 3 {
			e := gate(t, c)
			room := e.states.room()
			if got := e.tracked.Info().FastBits; !e.tracked.grows && got > free {
				t.Errorf("%s: a set of fixed size has %d bits in %d bytes, %d without a limit", kind, got, c.Memory, free)
			}
			if room <= last || room < 1000 {
				t.Errorf("%s: room for %d states in %d bytes, for %d in half of it", kind, room, c.Memory, last)
			}
			last = room
			c.Memory *= 2
		}
	}
}

// TestSetsThatGrowAreStoppedInTime fills a set up to its limit of keys.
func TestSetsThatGrowAreStoppedInTime(t *testing.T) {
	effort.OneGoroutine(t)
	for _, kilobytes := range []uint64{200, 500, 1000} {
		b, err := backingOf("evergreen")
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSet(b, 8*kilobytes, kilobytes<<10, true)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(kilobytes, 0))
		n := uint64(0)
		for s.put(filter.Key(r.Uint64())) {
			n++
		}
		i := s.Info()
		if used := (i.FastBits + i.SlowBits) / 8; used > kilobytes<<10 || used < kilobytes<<10*6/10 {
			t.Errorf("%d keys take %d bytes of %d", n, used, kilobytes<<10)
		}
		if n != s.limit || n < 8*kilobytes {
			t.Errorf("%d keys fit, %d were promised and %d expected", n, s.limit, 8*kilobytes)
		}
	}
}
