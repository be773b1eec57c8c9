package perennial

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// TestStreamsAreOfOneMoment changes a filter while it is streamed: it grows, shrinks, and is
// cleared, also between two parts. What is written must be the snapshot of the beginning.
func TestStreamsAreOfOneMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, to := range []int{0, 100, 20_000, 60_000} {
		f, err := New(Config{FPR: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		var keys []filter.Key
		lead := func(n int) {
			for len(keys) < n {
				keys = append(keys, filter.Key(rng.Uint64()))
				if _, err := f.Add(keys[len(keys)-1]); err != nil {
					t.Fatal(err)
				}
			}
			for len(keys) > n {
				if err := f.Delete(keys[len(keys)-1]); err != nil {
					t.Fatal(err)
				}
				keys = keys[:len(keys)-1]
			}
		}
		lead(40_000)
		var want, got bytes.Buffer
		if _, err := f.Snapshot().WriteTo(&want); err != nil {
			t.Fatal(err)
		}
		parts := 0
		stream := f.stream(1<<8, func(part func()) bool {
			parts++
			switch parts {
			case 1, 2:
				lead((len(keys) + to) / 2)
			case 3:
				lead(30_000)
				lead(to)
				if to == 0 {
					if err := f.Clear(); err != nil {
						t.Fatal(err)
					}
				}
			}
			part()
			return true
		})
		if _, err := stream.WriteTo(&got); err != nil {
			t.Fatal(err)
		}
		if parts < 5 || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("to %d keys: the stream of %d parts is not the snapshot", to, parts)
		}
		if f.ring.Load().capture != nil {
			t.Errorf("to %d keys: changes still keep lines", to)
		}
	}
}

// TestStreamsEnd stops two before they are written.
func TestStreamsEnd(t *testing.T) {
	f, err := New(Config{FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	always := func(part func()) bool { part(); return true }
	first, second := f.Stream(always), f.Stream(always)
	var out bytes.Buffer
	if _, err := first.WriteTo(&out); !errors.Is(err, errStreamReplaced) {
		t.Errorf("the first of two streams: %v", err)
	}
	if _, err := second.WriteTo(&out); err != nil {
		t.Errorf("the second: %v", err)
	}
	if _, err := f.Stream(func(func()) bool { return false }).WriteTo(&out); !errors.Is(err, errStreamEnded) {
		t.Errorf("without access: %v", err)
	}
}
