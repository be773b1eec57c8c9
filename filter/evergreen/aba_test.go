package evergreen

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// TestMergeAndSplitBetweenTwoLooks is the case that a reader cannot see from the
// number of blocks. It knows where to look; the block is merged away; it looks, and
// finds nothing; the block is split off again; and it looks at the number of
// blocks, which is the same. Only the count of steps tells that the look was in
// vain.
func TestMergeAndSplitBetweenTwoLooks(t *testing.T) {
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	for range 10 {
		if err := f.Grow(); err != nil {
			t.Fatal(err)
		}
	}
	keys := filtertest.Keys(1, 2000)
	f.AddBatch(keys)
	fooled := 0
	for _, k := range keys {
		mixed := f.tab().mixer.mix(k)
		n := f.tab().load().blocks()
		if place(mixed, n) != n-1 {
			continue
		}
		before := f.tab().load()
		where := f.tab().lines.at(n - 1)
		step(t, f.tab().size.merge)
		found := where.Has(f.tab().fingerprint(mixed), f.tab().rounds)
		step(t, f.tab().size.split)
		after := f.tab().load()
		if after.blocks() != n {
			t.Fatalf("%d blocks after a merge and a split, want %d", after.blocks(), n)
		}
		if !found {
			fooled++
		}
		if !found && after == before {
			t.Errorf("a reader would miss %#x", k)
		}
		if !f.MayContain(k) {
			t.Errorf("%#x is absent", k)
		}
	}
	if fooled == 0 {
		t.Error("no key was in the block that went and came back")
	}
}

// TestSplitBetweenTwoLooks does the same for a reader that looks into the lower
// block after its keys have gone to the upper one.
func TestSplitBetweenTwoLooks(t *testing.T) {
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	keys := filtertest.Keys(1, 2000)
	f.AddBatch(keys)
	fooled := 0
	for range 300 {
		before := f.tab().load()
		n := before.blocks()
		step(t, f.tab().size.split)
		for _, k := range keys {
			mixed := f.tab().mixer.mix(k)
			if place(mixed, n+1) != n {
				continue
			}
			found := f.tab().lines.at(place(mixed, n)).Has(f.tab().fingerprint(mixed), f.tab().rounds)
			if !found {
				fooled++
			}
			if !found && f.tab().load() == before || !f.MayContain(k) {
				t.Errorf("a reader would miss %#x", k)
			}
		}
	}
	if fooled == 0 {
		t.Error("no key moved")
	}
}

func step(t *testing.T, do func() error) {
	t.Helper()
	if err := do(); err != nil {
		t.Fatal(err)
	}
}

// TestStepsAreCounted checks that no two states of one size are alike.
func TestStepsAreCounted(t *testing.T) {
	f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
	seen := map[state]bool{f.tab().load(): true}
	for range 100 {
		for _, do := range []func() error{f.Grow, f.Grow, f.Shrink} {
			step(t, do)
			if seen[f.tab().load()] {
				t.Fatalf("state %#x comes back", f.tab().load())
			}
			seen[f.tab().load()] = true
		}
	}
}
