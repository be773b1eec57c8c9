package field

import (
	"errors"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

// exact is a map of keys, the plainest exact set in Go.
type exact struct{ keys map[filter.Key]struct{} }

func (x exact) Add(k filter.Key) (bool, error) {
	_, there := x.keys[k]
	x.keys[k] = struct{}{}
	return !there, nil
}

func (x exact) MayContain(k filter.Key) bool { _, there := x.keys[k]; return there }

func (x exact) Info() filter.Info { return filter.Info{Kind: "exact", Keys: uint64(len(x.keys))} }

func (x exact) Delete(k filter.Key) error {
	if _, there := x.keys[k]; !there {
		return filter.ErrNotFound
	}
	delete(x.keys, k)
	return nil
}

// faulty is an exact set that does something wrong. Experiments that cannot tell are
// worth nothing.
type faulty struct {
	exact
	forgets  uint64 // every so manieth key is denied
	capacity int    // with so many keys it is full
	addErr   error
	delErr   error
	yes      bool // to everything
}

func (f *faulty) Add(k filter.Key) (bool, error) {
	if f.addErr != nil {
		return false, f.addErr
	}
	if f.capacity > 0 && len(f.keys) >= f.capacity {
		return false, filter.ErrFull
	}
	return f.exact.Add(k)
}

func (f *faulty) MayContain(k filter.Key) bool {
	if f.forgets > 0 && uint64(k)%f.forgets == 0 {
		return false
	}
	return f.yes || f.exact.MayContain(k)
}

func (f *faulty) Delete(k filter.Key) error {
	if f.delErr != nil {
		return f.delErr
	}
	return f.exact.Delete(k)
}

func newFaulty(f faulty) *faulty {
	f.exact = exact{map[filter.Key]struct{}{}}
	return &f
}

var errBroken = errors.New("broken")

func testKeys() walk.Keys { return walk.NewKeys((&lab.Env{Seed: 1}).Rand(0)) }

// benchOf tries a faulty filter as if it were of some kind.
func benchOf(t *testing.T, name string, f faulty) bench {
	t.Helper()
	k, err := kinds.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	k.New = func(kinds.Config) (filter.Filter, error) { return newFaulty(f), nil }
	return bench{kind: k, keys: testKeys(), n: 1000, rate: 0.01, queries: 2000, times: 4}
}

// An exact set does what evergreen's row of the table says, unless it is faulty.
func TestConductSeesFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		try   func(bench) (trial, error)
		fault faulty
		ok    bool
		words string
	}{
		{"growth", bench.tryGrowth, faulty{}, true, "0 of 4000 refused, rate 0 %"},
		{"growth, refused", bench.tryGrowth, faulty{capacity: 3000}, false, "1000 of 4000 refused"},
		{"growth, rate", bench.tryGrowth, faulty{yes: true}, false, "rate 100 %"},
		{"growth, forgets", bench.tryGrowth, faulty{forgets: 50}, false, "members denied"},
		{"delete", bench.tryDelete, faulty{}, true, "2000 deleted, 0 pinned, 0 not found; 0 of the others denied"},
		{"delete, forgets", bench.tryDelete, faulty{forgets: 50}, false, "of the others denied"},
		{"delete, pinned", bench.tryDelete, faulty{delErr: filter.ErrPinned}, false, "0 deleted, 2000 pinned"},
		{"delete, not found", bench.tryDelete, faulty{delErr: filter.ErrNotFound}, false, "2000 not found"},
		{"twice", bench.tryTwice, faulty{}, true, "1000 of 1000 are gone"},
		{"twice, still there", bench.tryTwice, faulty{yes: true}, false, "0 of 1000 are gone"},
		{"absent", bench.tryAbsent, faulty{}, true, "0 of 2000 not refused; 0 of 1000 members denied"},
		{"absent, forgets", bench.tryAbsent, faulty{forgets: 50}, false, "members denied"},
	} {
		got, err := c.try(benchOf(t, "evergreen", c.fault))
		if err != nil || got.ok != c.ok || !strings.Contains(got.words, c.words) {
			t.Errorf("%s: %+v, %v; want %t, %q", c.name, got, err, c.ok, c.words)
		}
	}
}

// What is neither a refusal nor an answer is an error of the experiment.
func TestConductPassesErrorsOn(t *testing.T) {
	for name, try := range map[string]func(bench) (trial, error){
		"growth": bench.tryGrowth, "delete": bench.tryDelete, "twice": bench.tryTwice, "absent": bench.tryAbsent, "merge": bench.tryMerge,
	} {
		if _, err := try(benchOf(t, "evergreen", faulty{addErr: errBroken})); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, try := range map[string]func(bench) (trial, error){"delete": bench.tryDelete, "twice": bench.tryTwice, "absent": bench.tryAbsent} {
		if _, err := try(benchOf(t, "evergreen", faulty{delErr: errBroken})); !errors.Is(err, errBroken) {
			t.Errorf("%s, deleting: %v", name, err)
		}
	}
}

func TestMergersAreComparedWithTheTable(t *testing.T) {
	equal := bench{kind: kinds.Kind{Merging: "∪ ∩, equal shape"}}
	anySizes := bench{kind: kinds.Kind{Merging: "∪ ∩, any sizes"}}
	unionOnly := bench{kind: kinds.Kind{Merging: "∪", UnionOnly: true}}
	no, cannot := filter.ErrIncompatible, errors.ErrUnsupported
	for _, c := range []struct {
		b                      bench
		common, grown, unequal error
		want                   bool
	}{
		{equal, nil, nil, no, true},
		{equal, nil, nil, nil, false},
		{equal, nil, nil, errBroken, false},
		{equal, cannot, nil, no, false},
		{equal, no, nil, no, false},
		{anySizes, nil, nil, nil, true},
		{anySizes, nil, nil, no, true},
		{anySizes, nil, no, no, false},
		{anySizes, nil, nil, errBroken, false},
		{unionOnly, cannot, nil, no, true},
		{unionOnly, nil, nil, no, false},
	} {
		if got := c.b.asSaid(c.common, c.grown, c.unequal); got != c.want {
			t.Errorf("%s: ∩ %v, grown %v, unequal %v: %t", c.b.kind.Merging, c.common, c.grown, c.unequal, got)
		}
	}
	for err, want := range map[error]string{nil: "yes", no: "refused", cannot: "refused", errBroken: "broken"} {
		if got := word(err); got != want {
			t.Errorf("%v is %q", err, got)
		}
	}
}

func TestFillCountsRefusals(t *testing.T) {
	k := testKeys()
	if n, err := fill(newFaulty(faulty{capacity: 70}), k, 0, 100); n != 30 || err != nil {
		t.Errorf("%d refused, %v", n, err)
	}
	if _, err := fill(newFaulty(faulty{addErr: errBroken}), k, 0, 1); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func TestAnswersAreCounted(t *testing.T) {
	k, f := testKeys(), newFaulty(faulty{})
	if _, err := fill(f, k, 10, 20); err != nil {
		t.Fatal(err)
	}
	if n := denied(f, k, 0, 40); n != 20 {
		t.Errorf("%d of 40 denied, 20 are there", n)
	}
	if n := yeses(f, k, 1000); n != 0 {
		t.Errorf("%d yeses of an exact set", n)
	}
	f.yes = true
	if n := yeses(f, k, 1000); n != 1000 {
		t.Errorf("%d yeses of a set that says nothing else", n)
	}
}

func TestTimedOperationsTakeRefusalsForAnswers(t *testing.T) {
	for _, c := range []struct {
		fault faulty
		want  error
	}{{faulty{capacity: 1}, nil}, {faulty{delErr: filter.ErrPinned}, nil}, {faulty{addErr: errBroken}, errBroken}, {faulty{delErr: errBroken}, errBroken}} {
		list, err := laps(benchOf(t, "evergreen", c.fault).kind, testKeys(), 5, 2, 0.01)
		if err != nil || len(list) != 15 {
			t.Fatalf("%d laps, %v", len(list), err)
		}
		for _, l := range list {
			err = errors.Join(err, l.Run())
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.fault, err)
		}
	}
}
