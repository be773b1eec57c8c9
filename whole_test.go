package everbloom

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var (
	_ encoding.BinaryMarshaler   = (*Set)(nil)
	_ encoding.BinaryAppender    = (*Set)(nil)
	_ encoding.BinaryUnmarshaler = (*Set)(nil)
	_ io.ReaderFrom              = (*Set)(nil)
	_ io.WriterTo                = (*Set)(nil)
	_ io.Closer                  = (*Set)(nil)
)

// exactNeeds are sets that store their keys.
var exactNeeds = []Needs{{Items: 300, Kind: "evergreen"}, {Items: 3000, Kind: "evergreen"}, {Items: 3000, Kind: "evergreen", Shards: 3}}

func TestContainsIsExact(t *testing.T) {
	effort.OneGoroutine(t)
	for _, n := range append(exactNeeds, Needs{Items: 300, Kind: "elastic"}) {
		n.FPR = 0.5
		s := filled(t, n, 0, 300)
		for i := range 3000 {
			want := i < 300
			inBytes, err1 := s.Contains([]byte(word(i)))
			inString, err2 := s.ContainsString(word(i))
			inKey, err3 := s.ContainsKey(s.Hash().String(word(i)))
			if err := errors.Join(err1, err2, err3); inBytes != want || inString != want || inKey != want || err != nil {
				t.Fatalf("%+v: %s: %t, %t, %t, %v; want %t", n, word(i), inBytes, inString, inKey, err, want)
			}
		}
		mustAdd(t, s, 77)
		if in, err := s.ContainsUint64(77); !in || err != nil {
			t.Errorf("%+v: a number that was added: %t, %v", n, in, err)
		}
	}
}

func mustAdd(t *testing.T, s *Set, number uint64) {
	t.Helper()
	if _, err := s.AddUint64(number); err != nil {
		t.Fatal(err)
	}
}

func TestKeysAreThoseThatWereAdded(t *testing.T) {
	for _, n := range exactNeeds {
		s := filled(t, n, 0, 200)
		keys, err := s.Keys()
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(keys)
		var want []filter.Key
		for i := range 200 {
			want = append(want, s.Hash().String(word(i)))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d keys, want the %d that were added", n, len(got), len(want))
		}
		for range keys {
			break // a loop may end early
		}
	}
}

func TestClearedSetsAreEmptyAndGoOn(t *testing.T) {
	for _, needs := range []Needs{{Items: 500}, {Items: 500, Delete: true, Shards: 3}} {
		s := filled(t, needs, 0, 500)
		if err := s.Clear(); err != nil || s.Len() != 0 || s.MayContainString(word(7)) {
			t.Errorf("%+v: %d keys after Clear, %v", needs, s.Len(), err)
		}
		addWords(t, s, 100, 110)
		if !s.Equal(filled(t, needs, 100, 110)) {
			t.Errorf("%+v: a cleared set is not like a new one", needs)
		}
	}
}

func TestClonesAreEqualAndApart(t *testing.T) {
	for _, kind := range kindNames() {
		for _, shards := range []int{1, 3} {
			s := filled(t, Needs{Items: 1000, Kind: kind, Shards: shards, Hash: filter.SipHash(secret)}, 0, 500)
			clone, err := s.Clone()
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if !s.Equal(clone) || !clone.Equal(s) {
				t.Errorf("%s: a clone is not equal", kind)
			}
			wantWords(t, clone, 0, 500)
			addWords(t, clone, 500, 520)
			if s.Equal(clone) || clone.Equal(s) {
				t.Errorf("%s: twenty more keys make no difference", kind)
			}
		}
	}
}

func TestUnequalSetsAreTold(t *testing.T) {
	s := filled(t, Needs{Items: 100}, 0, 10)
	for name, other := range map[string]*Set{
		"nil":    nil,
		"zero":   new(Set),
		"hash":   NewSet(s.shards.kind(), filter.XXH3(1)),
		"shards": filled(t, Needs{Items: 100, Shards: 2}, 0, 10),
		"kind":   filled(t, Needs{Items: 100, Kind: "bloom"}, 0, 10),
		"shape":  filled(t, Needs{Items: 200}, 0, 10),
		"keys":   filled(t, Needs{Items: 100}, 1, 11),
	} {
		if s.Equal(other) || other != nil && other.Equal(s) {
			t.Errorf("%s differs, and the sets are equal", name)
		}
	}
	if !new(Set).Equal(new(Set)) || !s.Equal(s) {
		t.Error("sets are not equal to themselves")
	}
}

// TestEqualGoesByKeysWhereTheyAreStored has two sets with the same keys and another
// past.
func TestEqualGoesByKeysWhereTheyAreStored(t *testing.T) {
	effort.OneGoroutine(t)
	for _, n := range exactNeeds {
		a, b := filled(t, n, 0, 100), filled(t, n, 0, 5000)
		for i := 100; i < 5000; i++ {
			if err := b.DeleteString(word(i)); err != nil {
				t.Fatal(err)
			}
		}
		if !a.Equal(b) {
			t.Errorf("%+v: equal keys and not equal", n)
		}
	}
}

func TestDifferenceTakesOutWhatIsInBoth(t *testing.T) {
	for _, n := range exactNeeds {
		a, b := filled(t, n, 0, 200), filled(t, n, 100, 300)
		if err := a.Difference(b); err != nil {
			t.Fatal(err)
		}
		if want := filled(t, n, 0, 100); !a.Equal(want) {
			t.Errorf("%+v: %d keys are left, want 100", n, a.Len())
		}
		if err := a.Difference(a); err != nil || a.Len() != 0 {
			t.Errorf("%+v: without itself it has %d keys, %v", n, a.Len(), err)
		}
	}
}

func TestSetsGrowAndShrinkOnDemand(t *testing.T) {
	s := filled(t, Needs{Items: 3000, Kind: "evergreen", Shards: 2}, 0, 3000)
	before := s.Info().FastBits
	for range 10 {
		if err := s.Grow(); err != nil {
			t.Fatal(err)
		}
	}
	grown := s.Info().FastBits
	if err := s.Shrink(); err != nil || grown <= before || s.Info().FastBits >= grown {
		t.Errorf("%d bits, %d after Grow, %d after Shrink, %v", before, grown, s.Info().FastBits, err)
	}
}

func TestBinaryFormsReadBack(t *testing.T) {
	for _, shards := range []int{1, 3} {
		s := filled(t, Needs{Items: 1000, Shards: shards}, 0, 1000)
		data, err := s.MarshalBinary()
		if err != nil || !bytes.Equal(data, stored(t, s)) {
			t.Fatalf("%d bytes, %v; want what WriteTo writes", len(data), err)
		}
		var got Set
		if err := got.UnmarshalBinary(data); err != nil || !got.Equal(s) {
			t.Errorf("read back: %v", err)
		}
		if err := got.UnmarshalBinary(append(data, 0)); !errors.Is(err, filter.ErrCorrupt) || !got.Equal(s) {
			t.Errorf("a byte too much: %v", err)
		}
		if err := got.UnmarshalBinary(data[:len(data)-1]); !errors.Is(err, filter.ErrCorrupt) || !got.Equal(s) {
			t.Errorf("a byte too few: %v", err)
		}
	}
}

// TestStreamsGoOnBehindASet has two sets and a line of text in one stream.
func TestStreamsGoOnBehindASet(t *testing.T) {
	a, b := filled(t, Needs{Items: 100, Shards: 3}, 0, 100), filled(t, Needs{Items: 100, Delete: true}, 50, 150)
	r := bytes.NewReader(slices.Concat(stored(t, a), stored(t, b), []byte("the end")))
	first, err := Read(r)
	if err != nil || !first.Equal(a) {
		t.Fatalf("the first set: %v", err)
	}
	second := filled(t, Needs{}, 0, 1) // what was there goes
	n, err := second.ReadFrom(r)
	if err != nil || !second.Equal(b) || n != int64(len(stored(t, b))) {
		t.Fatalf("the second set: %d bytes, %v", n, err)
	}
	wantWords(t, second, 50, 150)
	if rest, err := io.ReadAll(r); string(rest) != "the end" || err != nil {
		t.Errorf("behind the sets: %q, %v", rest, err)
	}
	if _, err := Read(strings.NewReader("the end")); err == nil {
		t.Error("text is a set")
	}
}

// TestTheZeroSetAnswers goes through all methods of sets without a filter.
func TestTheZeroSetAnswers(t *testing.T) {
	other := filled(t, Needs{Items: 10, Delete: true}, 0, 10)
	keys := filtertest.Keys(1, 3)
	for name, s := range map[string]*Set{"zero": {}, "NewSet(nil)": NewSet(nil, filter.Hash{})} {
		if s.MayContain(nil) || s.MayContainString("a") || s.MayContainUint64(1) || s.MayContainKey(1) || s.Len() != 0 {
			t.Errorf("%s: has keys", name)
		}
		out := []bool{true, true, true}
		s.MayContainBatch(keys, out)
		if out[0] || out[1] || out[2] {
			t.Errorf("%s: has keys: %v", name, out)
		}
		fails := map[string]error{
			"Union": s.Union(other), "Intersect": s.Intersect(other), "Difference": s.Difference(other),
			"Union with itself": s.Union(s), "Difference with itself": s.Difference(s),
			"Clear": s.Clear(), "Grow": s.Grow(), "Shrink": s.Shrink(),
			"Delete": s.Delete(nil), "DeleteString": s.DeleteString("a"), "DeleteUint64": s.DeleteUint64(1),
			"Save": s.Save(t.TempDir() + "/zero"),
		}
		_, fails["Add"] = s.Add(nil)
		_, fails["AddString"] = s.AddString("a")
		_, fails["AddBatch"] = s.AddBatch(keys, nil)
		_, _, _, fails["DeleteBatch"] = s.DeleteBatch(keys, nil)
		_, fails["Contains"] = s.Contains(nil)
		_, fails["Keys"] = s.Keys()
		_, fails["Clone"] = s.Clone()
		_, fails["MarshalBinary"] = s.MarshalBinary()
		for method, err := range fails {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %s: %v", name, method, err)
			}
		}
		if err := s.Close(); err != nil || fmt.Sprint(s.Info()) != "the zero Set" {
			t.Errorf("%s: Close %v, Info %v", name, err, s.Info())
		}
	}
	if _, err := Read(nil); err == nil {
		t.Error("a set was read from nothing")
	}
	for _, nothing := range []*Set{nil, {}} {
		for _, err := range []error{other.Union(nothing), other.Intersect(nothing), other.Difference(nothing)} {
			wantError(t, err, filter.ErrIncompatible)
		}
	}
}

func TestInfoPrintsItself(t *testing.T) {
	s := filled(t, Needs{Items: 1000, FPR: 0.01, Kind: "evergreen"}, 0, 1000)
	for _, c := range []struct {
		set  *Set
		want string
	}{
		{filled(t, Needs{Items: 1000, FPR: 0.01, Shards: 2}, 0, 0), "blocked: about 0 keys of 1180, false-positive rate 0, 1536 bytes, hash xxh3, 2 shards"},
		{s, "evergreen: 1000 keys, false-positive rate "},
		{filled(t, Needs{Items: 10, FPR: 0.01}, 0, 100), " (overfull), 64 bytes"},
	} {
		if got := fmt.Sprint(c.set.Info()); !strings.Contains(got, c.want) {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

func TestMissingAbilitiesAreNamed(t *testing.T) {
	s := filled(t, Needs{Items: 10, Kind: "blocked"}, 0, 10)
	other := filled(t, Needs{Items: 10, Kind: "blocked"}, 0, 10)
	_, keys := s.Keys()
	_, contains := s.ContainsString("a")
	for verb, err := range map[string]error{
		"list its keys": keys, "answer exactly": contains, "take differences": s.Difference(other),
		"grow on demand": s.Grow(), "shrink": s.Shrink(), "take differences ": s.Difference(s),
		"delete": s.DeleteString("a"), "delete ": s.DeleteUint64(1),
	} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "kind blocked cannot "+strings.TrimSpace(verb)) {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
