package everbloom

import (
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// order returns the names of the choices.
func order(choices []Choice) (names []string) {
	for _, c := range choices {
		names = append(names, c.Kind)
	}
	return names
}

func mustPlan(t *testing.T, table []kinds.Kind, n Needs) []Choice {
	t.Helper()
	choices, err := plan(table, n)
	if err != nil {
		t.Fatalf("%+v: %v", n, err)
	}
	return choices
}

// costs is a row of a made-up table.
func costs(name string, fast, slow, lines float64) kinds.Kind {
	k := exactKind
	k.Name = name
	k.Predict = func(kinds.Config, uint64) (filter.Prediction, error) {
		return filter.Prediction{FastBitsPerKey: fast, SlowBitsPerKey: slow, HitLines: lines, MissLines: lines}, nil
	}
	return k
}

// TestPlanBreaksTiesByTheOtherResources uses kinds that are equal in one figure
// and differ in others, so that every comparison decides once.
func TestPlanBreaksTiesByTheOtherResources(t *testing.T) {
	table := []kinds.Kind{
		costs("slow", 10, 0, 5),
		costs("near", 10, 10, 4),
		costs("even", 15, 0, 2),
		costs("split", 12, 3, 1),
		costs("twin", 12, 3, 1),
		costs("quick", 14, 0, 1),
	}
	for _, c := range []struct {
		spare Resource
		want  string
	}{
		{Time, "quick split twin even near slow"},
		{FastMemory, "near slow split twin quick even"},
		{TotalMemory, "slow quick split twin even near"},
	} {
		if got := strings.Join(order(mustPlan(t, table, Needs{Spare: c.spare})), " "); got != c.want {
			t.Errorf("sparing %v: %s, want %s", c.spare, got, c.want)
		}
	}
}

func TestPlanSaysWhy(t *testing.T) {
	limited := exactKind
	limited.Name, limited.Type = "limited", plain{}
	choices := mustPlan(t, append(rows(t, "bloom", "blocked", "dleft"), limited, exactKind), Needs{Delete: true, Grow: true, Merge: true})
	want := map[string]string{
		"exact":   "never errs; 64 bits per key and more; merging: any sizes",
		"bloom":   "cannot delete or grow",
		"blocked": "cannot delete or grow",
		"dleft":   "cannot grow",
		"limited": "cannot delete or merge",
	}
	for i, c := range choices {
		if c.Why != want[c.Kind] || c.Fits != (i == 0) {
			t.Errorf("choice %d, %s: fits %t, why %q, want %q", i, c.Kind, c.Fits, c.Why, want[c.Kind])
		}
		if c.FastBitsPerKey == 0 {
			t.Errorf("%s: nothing is predicted of a kind that does not fit", c.Kind)
		}
	}
}

// TestPlanPutsWeakerPromisesAfterAll: whatever the resource, a set that deletes wants all
// its keys to be deletable, and one that grows wants the rate to hold. Where that is
// not needed it does not matter.
func TestPlanPutsWeakerPromisesAfterAll(t *testing.T) {
	pinning, drifting, uniting := costs("pinning", 1, 0, 1), costs("drifting", 2, 0, 2), costs("uniting", 3, 0, 3)
	pinning.Pins, drifting.Drifts, uniting.UnionOnly = true, true, true
	unable := costs("unable", 0.5, 0, 0.5)
	unable.Type, unable.Grows = plain{}, false
	table := []kinds.Kind{unable, pinning, drifting, uniting, costs("able", 5, 4, 10)}
	for _, spare := range []Resource{Time, FastMemory, TotalMemory} {
		for _, c := range []struct {
			needs Needs
			want  string
			fit   int
		}{
			{Needs{}, "unable pinning drifting uniting able", 5},
			{Needs{Delete: true}, "drifting uniting able pinning unable", 3},
			{Needs{Grow: true}, "pinning uniting able drifting unable", 3},
			{Needs{Merge: true}, "pinning drifting able uniting unable", 3},
			{Needs{Grow: true, Delete: true}, "uniting able pinning drifting unable", 2},
		} {
			c.needs.Spare = spare
			choices := mustPlan(t, table, c.needs)
			if got := strings.Join(order(choices), " "); got != c.want {
				t.Errorf("%+v: %s, want %s", c.needs, got, c.want)
			}
			for i, choice := range choices {
				weaker := !choice.Fits && choice.Kind != "unable"
				if choice.Fits != (i < c.fit) || choice.Weaker != weaker || choice.Weaker != strings.HasPrefix(choice.Why, "only if it is named: ") {
					t.Errorf("%+v, choice %d: %+v", c.needs, i, choice)
				}
			}
		}
	}
	if s, err := build([]kinds.Kind{pinning}, Needs{Delete: true}); !errors.Is(err, ErrNoKind) {
		t.Errorf("a weaker kind was taken without being named: %v, %v", s, err)
	}
}

// TestWeakerKindsSayWhatTheyDoNotPromise, each in its own words.
func TestWeakerKindsSayWhatTheyDoNotPromise(t *testing.T) {
	choices, err := Plan(Needs{Delete: true, Merge: true})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"counting":  {"added twice must be deleted twice", "deleting an absent key: "},
		"dleft":     {"added twice must be deleted twice", "deleting an absent key: ", "more keys than asked for: refuses"},
		"deletable": {"some keys cannot be deleted", "deleting an absent key: "},
		"dynamic":   {"some keys cannot be deleted", "it cannot intersect"},
		"parallel":  {"some keys cannot be deleted", "it cannot intersect"},
		"perennial": {"added twice must be deleted twice", "deleting an absent key: ", "it cannot intersect"},
	}
	for _, c := range choices {
		words, weaker := want[c.Kind]
		if c.Weaker != weaker || c.Weaker && c.Fits {
			t.Errorf("%s: weaker %t, fits %t", c.Kind, c.Weaker, c.Fits)
		}
		for _, w := range words {
			if !strings.Contains(c.Why, w) {
				t.Errorf("%s: %q does not say %q", c.Kind, c.Why, w)
			}
		}
	}
}

// TestPlanPutsExcessLast: a quick kind that takes more than ten times the memory of
// another is not the first choice.
func TestPlanPutsExcessLast(t *testing.T) {
	table := []kinds.Kind{costs("huge", 1, 210, 1), costs("large", 1, 190, 2), costs("lean", 20, 0, 9)}
	if got := strings.Join(order(mustPlan(t, table, Needs{})), " "); got != "large lean huge" {
		t.Errorf("got %s", got)
	}
}

// TestPlanJudgesGrowthByLater: a short list of filters is quick, which says little
// about a set that grows.
func TestPlanJudgesGrowthByLater(t *testing.T) {
	scalable := mustPlan(t, rows(t, "scalable"), Needs{Grow: true})[0]
	if scalable.MissLines < 3 {
		t.Errorf("scalable after tenfold growth: %g lines", scalable.MissLines)
	}
}

func TestNoKindIsSaidWithTheChoices(t *testing.T) {
	table := rows(t, "bloom", "blocked")
	for _, c := range []struct {
		needs Needs
		text  string
	}{
		{Needs{Delete: true}, "everbloom: no kind can delete and hold 1000000 keys at a rate of 0.001"},
		{Needs{Grow: true}, "everbloom: no kind can grow and hold 1000000 keys at a rate of 0.001"},
		{Needs{Delete: true, Grow: true, Merge: true}, "everbloom: no kind can delete and grow and merge and hold 1000000 keys at a rate of 0.001"},
		{Needs{Items: 1 << 60}, "everbloom: no kind can hold 1152921504606846976 keys at a rate of 0.001"},
		{Needs{FPR: 1e-300}, "everbloom: no kind can hold 1000000 keys at a rate of 1e-300"},
	} {
		choices, err := plan(table, c.needs)
		if !errors.Is(err, ErrNoKind) || err.Error() != c.text {
			t.Errorf("%+v: %v, want %q", c.needs, err, c.text)
		}
		if len(choices) != len(table) {
			t.Fatalf("%+v: %d choices", c.needs, len(choices))
		}
		for _, choice := range choices {
			if choice.Fits || !strings.HasPrefix(choice.Why, "cannot ") {
				t.Errorf("%+v: %+v", c.needs, choice)
			}
		}
		if s, err := build(table, c.needs); !errors.Is(err, ErrNoKind) || s != nil {
			t.Errorf("a set for %+v: %v", c.needs, err)
		}
	}
}

func TestNamedKindIsTakenIfItIsAble(t *testing.T) {
	effort.OneGoroutine(t)
	for _, k := range kinds.All() {
		t.Run(k.Name, func(t *testing.T) {
			can := k.Abilities()
			for _, c := range []struct {
				needs Needs
				able  bool
				verb  string
			}{
				{Needs{}, true, ""},
				{Needs{Delete: true}, can.Delete, "delete"},
				{Needs{Merge: true}, can.Merge, "merge"},
				{Needs{Grow: true}, k.Grows, "grow"},
			} {
				c.needs.Kind, c.needs.Items = k.Name, 1000
				if !c.able {
					_, err := New(c.needs)
					wantError(t, err, errors.ErrUnsupported, "kind "+k.Name+" cannot "+c.verb)
				} else if got := mustNew(t, c.needs).Info().Kind; got != k.Name {
					t.Errorf("built a %s", got)
				}
			}
		})
	}
	_, err := New(Needs{Kind: "cuckoo", Delete: true})
	wantError(t, err, nil, `"cuckoo"`, "bloom, blocked")
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ErrNoKind) {
		t.Errorf("an unknown kind is reported as one that cannot: %v", err)
	}
	_, err = build([]kinds.Kind{exactKind}, Needs{Kind: "bloom"})
	wantError(t, err, nil, `"bloom"`, "take exact")
}

func TestAllProblemsOfNeedsAreReportedAtOnce(t *testing.T) {
	bad := Needs{FPR: 2, Shards: -1, Spare: 9, Kind: "cuckoo"}
	_, err := New(bad)
	wantError(t, err, nil, "FPR: 2", "Shards: -1, must be 1 to 1024", "Spare: 9", "Kind:")
	if _, err := Plan(bad); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("Plan: %v", err)
	}
	bad.Kind = ""
	if _, err := New(bad); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("New without a kind: %v", err)
	}
	_, err = New(Needs{Shards: 1025})
	wantError(t, err, nil, "Shards: 1025")
}

func TestZeroMeansTheDefaults(t *testing.T) {
	effort.OneGoroutine(t)
	info := mustNew(t, Needs{}).Info()
	if info.Capacity != 1_000_000 || info.Shards != 1 || info.Hash != "xxh3" || info.Kind != "blocked" {
		t.Errorf("%+v", info)
	}
	asked := mustPlan(t, kinds.All(), Needs{Items: 1_000_000, FPR: 0.001, Shards: 1})
	if zero := mustPlan(t, kinds.All(), Needs{}); !slices.Equal(zero, asked) {
		t.Errorf("the plan of no needs\n%v\nis not that of the defaults\n%v", zero, asked)
	}
	almostOne := math.Nextafter(1, 0)
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			wantWords(t, filled(t, Needs{Kind: kind, Items: 100, FPR: almostOne}, 0, 100), 0, 100)
			wantWords(t, filled(t, Needs{Kind: kind, Items: 100, FPR: 1e-6, Shards: 64}, 0, 100), 0, 100)
		})
	}
}

// TestTooLargeIsAnError asks for terabytes. Elsewhere the machine does not say
// how much memory it has.
func TestTooLargeIsAnError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the size of memory is known on Linux only")
	}
	for _, kind := range kindNames() {
		t.Run(kind, func(t *testing.T) {
			for _, shards := range []int{1, 4} {
				s, err := New(Needs{Kind: kind, Items: 1 << 40, Shards: shards})
				if s != nil && s.Info().FastBits < 1<<30 {
					continue // takes memory when keys come
				}
				if s != nil {
					t.Fatal("a set of terabytes was made")
				}
				wantError(t, err, filter.ErrStorage, "not enough memory", "iB")
			}
			_, err := New(Needs{Kind: kind, Items: math.MaxUint64, FPR: 0.5})
			wantError(t, err, nil, "Items: 18446744073709551615, ")
		})
	}
}

// TestPredictedBitsAreBuilt compares every choice with a set made by it. The rates of
// kinds are measured in internal/kinds, those of shards below.
func TestPredictedBitsAreBuilt(t *testing.T) {
	effort.PlainOnly(t)
	for _, needs := range []Needs{
		{Items: 1000, FPR: 0.1},
		{Items: 20_000, FPR: 0.001, Shards: 7},
		{Items: 10, FPR: 0.01, Shards: 64},
	} {
		choices, err := Plan(needs)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range choices {
			needs.Kind = c.Kind
			s := mustNew(t, needs)
			if _, err := s.AddBatch(filtertest.Keys(needs.Items, needs.Items), nil); err != nil {
				t.Fatal(err)
			}
			info, slack := s.Info(), 1e-6
			switch {
			case info.Unbounded && needs.Items < uint64(needs.Shards):
				slack = 1 // shards without a key take none
			case info.Unbounded:
				slack = 0.2 // the memory follows from the keys
			}
			bits := (c.FastBitsPerKey + c.SlowBitsPerKey) * float64(needs.Items)
			if math.Abs(bits-float64(info.FastBits+info.SlowBits)) > slack*bits {
				t.Errorf("%+v: %g bits predicted, %d built", needs, bits, info.FastBits+info.SlowBits)
			}
		}
	}
}

func TestResourcesHaveNames(t *testing.T) {
	for _, r := range []Resource{Time, FastMemory, TotalMemory} {
		if got, err := ParseResource(r.String()); err != nil || got != r {
			t.Errorf("%v is read as %v, %v", r, got, err)
		}
	}
	_, err := ParseResource("money")
	wantError(t, err, nil, `"money"`, "time, fast or total")
	if got := Resource(9).String(); got != "Resource(9)" {
		t.Errorf("an unknown resource is called %s", got)
	}
}

func TestChoicesAreFlatInJSON(t *testing.T) {
	choices, err := Plan(Needs{Items: 1000, FPR: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(choices[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"kind":"blocked"`, `"fits":true`, `"why":`, `"fast_bits_per_key":`, `"hit_lines":1`} {
		if !strings.Contains(string(text), field) {
			t.Errorf("%s has no %s", text, field)
		}
	}
}

// TestShardedRateIsPredicted measures many small sets whose shards get unequal
// numbers of keys. One number for all shards would be far too low here.
func TestShardedRateIsPredicted(t *testing.T) {
	effort.PlainOnly(t)
	needs := Needs{Items: 320, FPR: 0.01, Shards: 16, Kind: "bloom"}
	choices, err := Plan(needs)
	if err != nil {
		t.Fatal(err)
	}
	var predicted float64
	for _, c := range choices {
		if c.Kind == needs.Kind {
			predicted = c.FPR
		}
	}
	const probes = 10_000
	sets := effort.Pick(40, 200)
	hits := 0
	for i := range uint64(sets) {
		needs.Hash = filter.XXH3(i + 1)
		set, err := New(needs)
		if err != nil {
			t.Fatal(err)
		}
		for k := range needs.Items {
			set.AddUint64(k)
		}
		for k := range uint64(probes) {
			if set.MayContainUint64(1<<40 + k) {
				hits++
			}
		}
	}
	if got := float64(hits) / float64(sets*probes); math.Abs(got/predicted-1) > 0.1 {
		t.Errorf("measured %g, predicted %g", got, predicted)
	}
}
