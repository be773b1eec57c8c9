package everbloom

import (
	"errors"
	"fmt"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// allNeeds are those that decide the kind.
func allNeeds() (all []Needs) {
	for _, spare := range []Resource{Time, FastMemory, TotalMemory} {
		for i := range 8 {
			all = append(all, Needs{Delete: i&1 > 0, Grow: i&2 > 0, Merge: i&4 > 0, Spare: spare})
		}
	}
	return all
}

// TestOneNeedIsOneKindAtEverySizeAndRate: the kind follows from what the set must do.
func TestOneNeedIsOneKindAtEverySizeAndRate(t *testing.T) {
	effort.OneGoroutine(t)
	for needs, want := range map[Needs]string{
		{}:                               "blocked",
		{Merge: true}:                    "blocked",
		{Spare: FastMemory}:              "bloom",
		{Spare: TotalMemory}:             "bloom",
		{Grow: true}:                     "evergreen",
		{Grow: true, Spare: TotalMemory}: "scalable",
		{Grow: true, Merge: true, Spare: TotalMemory}: "evergreen",
		{Delete: true}:                                                    "evergreen",
		{Delete: true, Spare: TotalMemory}:                                "evergreen",
		{Delete: true, Grow: true, Merge: true}:                           "evergreen",
		{Delete: true, KnownDeletes: true}:                                "perennial",
		{Delete: true, KnownDeletes: true, Grow: true, Spare: FastMemory}: "perennial",
		{Delete: true, KnownDeletes: true, Merge: true}:                   "evergreen",
	} {
		for _, needs.Items = range []uint64{1, 100, 5000, 8000, 100_000} {
			for _, needs.FPR = range []float64{0.9, 0.01, 0.001, 1e-9} {
				if got := mustNew(t, needs).Info().Kind; got != want {
					t.Errorf("%+v: %s, want %s", needs, got, want)
				}
			}
		}
	}
}

// TestKnownDeletesTakeOutNothingElse: what was added and not deleted is found, and the set
// follows the number of keys.
func TestKnownDeletesTakeOutNothingElse(t *testing.T) {
	effort.OneGoroutine(t)
	s := mustNew(t, Needs{Delete: true, KnownDeletes: true, Items: 100, FPR: 0.01})
	keys := filtertest.Keys(1, 20_000)
	for _, k := range append(keys, keys[:100]...) { // some twice
		if _, err := s.AddKey(k); err != nil {
			t.Fatal(err)
		}
	}
	full := s.Info().FastBits
	for _, k := range append(keys[200:], keys[:100]...) {
		if err := s.DeleteKey(k); err != nil {
			t.Fatal(err)
		}
	}
	for i, k := range keys[:200] {
		if !s.MayContainKey(k) {
			t.Errorf("key %d was added once more than deleted, and is absent", i)
		}
	}
	if info := s.Info(); info.Keys != 200 || info.FastBits > full/10 {
		t.Errorf("%d keys in %d bits, which were %d", info.Keys, info.FastBits, full)
	}
	_, err := New(Needs{KnownDeletes: true})
	wantError(t, err, nil, "KnownDeletes: needs Delete")
}

// TestPlanPutsFirstWhatNewTakes, also where the preferred kind cannot be made.
func TestPlanPutsFirstWhatNewTakes(t *testing.T) {
	effort.PlainOnly(t)
	fallbacks := 0
	for _, items := range []uint64{1, 1500} {
		for _, rate := range []float64{0.9999, 0.01, 1e-10, 1e-13, 1e-16, 1e-25} {
			for _, shards := range []int{1, 3} {
				for _, needs := range allNeeds() {
					needs.Items, needs.FPR, needs.Shards = items, rate, shards
					if kind := checkFirst(t, needs); kind != "" && kind != needs.preferred()[0] {
						fallbacks++
					}
				}
			}
		}
	}
	if fallbacks == 0 {
		t.Error("no case in which the preferred kind cannot be made")
	}
}

// checkFirst returns the kind that New takes for needs, or "" if there is none.
func checkFirst(t *testing.T, needs Needs) string {
	t.Helper()
	choices, errPlan := Plan(needs)
	s, err := New(needs)
	switch {
	case errPlan != nil && err != nil:
		if err.Error() != errPlan.Error() {
			t.Errorf("%+v: plan says %v, New %v", needs, errPlan, err)
		}
		return ""
	case errPlan != nil || err != nil:
		t.Errorf("%+v: plan says %v, New %v", needs, errPlan, err)
		return ""
	}
	kind := s.Info().Kind
	if kind != choices[0].Kind || !choices[0].Fits || choices[0].Weaker {
		t.Errorf("%+v: New takes %s, the plan begins with %+v", needs, kind, choices[0])
	}
	return kind
}

// TestDeleteHasOneContractAtEverySize holds what Needs.Delete promises, in the long
// form up to ten million keys.
func TestDeleteHasOneContractAtEverySize(t *testing.T) {
	effort.OneGoroutine(t)
	most := effort.PickVariant[uint64](8000, 100_000, 10_000_000)
	for _, items := range []uint64{1, 10, 100, 1000, 5000, 8000, 20_000, 100_000, 1_000_000, 10_000_000} {
		if items > most {
			break
		}
		t.Run(fmt.Sprintf("items=%d", items), func(t *testing.T) {
			checkDeleteContract(t, mustNew(t, Needs{Items: items, FPR: 0.1, Delete: true}), items)
		})
	}
	for name, needs := range map[string]Needs{
		"shards":    {Items: 2000, FPR: 0.1, Delete: true, Shards: 4},
		"fallback":  {Items: 300, FPR: 1e-10, Delete: true},
		"untrusted": {Items: 1000, FPR: 0.1, Delete: true, Untrusted: true},
		"elastic":   {Items: 1000, FPR: 0.1, Delete: true, Kind: "elastic"},
	} {
		t.Run(name, func(t *testing.T) { checkDeleteContract(t, mustNew(t, needs), needs.Items) })
	}
}

// checkDeleteContract adds three times the keys that s was made for, some of them
// twice, and deletes absent keys, then some of these once. Some are at most 20,000.
func checkDeleteContract(t *testing.T, s *Set, items uint64) {
	t.Helper()
	some := effort.PickVariant[uint64](2000, 20_000, 20_000)
	stream := filtertest.Stream{Seed: items}
	keys := stream.Keys(3 * items)
	for i, k := range keys {
		if added, err := s.AddKey(k); err != nil || !added {
			t.Fatalf("key %d of %d: added %t, %v", i, len(keys), added, err)
		}
	}
	gone, left := keys[:min(some, items)], keys[min(some, items):]
	for i, k := range gone {
		if added, err := s.AddKey(k); err != nil || added {
			t.Fatalf("key %d again: added %t, %v", i, added, err)
		}
	}
	falsePositives := 0
	for i := range some {
		absent := stream.Absent(i)
		if s.MayContainKey(absent) {
			falsePositives++
		}
		if err := s.DeleteKey(absent); !errors.Is(err, filter.ErrNotFound) {
			t.Fatalf("deleting absent key %d: %v", i, err)
		}
	}
	if rate := s.Info().FPR; rate > 0.001 && falsePositives == 0 {
		t.Errorf("no false positive was deleted at a rate of %g", rate)
	}
	for i, k := range gone {
		if !s.MayContainKey(k) {
			t.Fatalf("key %d of %d is gone after deleting absent keys", i, len(gone))
		}
		if err := s.DeleteKey(k); err != nil {
			t.Fatalf("deleting key %d: %v", i, err)
		}
		if err := s.DeleteKey(k); !errors.Is(err, filter.ErrNotFound) {
			t.Fatalf("key %d was added twice and deleted twice: %v", i, err)
		}
	}
	for i, k := range left {
		if !s.MayContainKey(k) {
			t.Fatalf("key %d of %d is gone after deleting others", i, len(left))
		}
	}
	if n := s.Len(); n != uint64(len(left)) {
		t.Errorf("%d keys are left, want %d", n, len(left))
	}
}

// TestUntrustedKeysAreHashedWithASecret of each set's own, unless one is given.
func TestUntrustedKeysAreHashedWithASecret(t *testing.T) {
	a, b := mustNew(t, Needs{Untrusted: true}), mustNew(t, Needs{Untrusted: true, Kind: "bloom"})
	if !a.Hash().Secret() || !b.Hash().Secret() || a.Hash() == b.Hash() {
		t.Errorf("hashes %v and %v, equal: %t", a.Hash(), b.Hash(), a.Hash() == b.Hash())
	}
	given := filter.SipHash(secret)
	if s := mustNew(t, Needs{Untrusted: true, Hash: given}); s.Hash() != given {
		t.Error("the given secret was not taken")
	}
	if s := mustNew(t, Needs{}); s.Hash().Secret() {
		t.Error("a secret that was not asked for")
	}
	for _, h := range []filter.Hash{filter.XXH3(42), filter.Murmur3(7)} {
		_, err := New(Needs{Untrusted: true, Hash: h})
		wantError(t, err, nil, "Hash: "+h.Name(), "Untrusted")
	}
	first := filled(t, Needs{Items: 1000, Untrusted: true}, 0, 500)
	second := filled(t, Needs{Items: 1000, Untrusted: true, Hash: first.Hash()}, 500, 1000)
	if err := first.Union(second); err != nil {
		t.Fatal(err)
	}
	wantWords(t, first, 0, 1000)
}
