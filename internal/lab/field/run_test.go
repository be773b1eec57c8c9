package field

import (
	"errors"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/walk"
)

func TestTheirsAreInOrderOfTheirBits(t *testing.T) {
	for i, r := range theirs {
		if r.rate <= 0 || r.insert <= 0 || r.absent <= 0 || i > 0 && r.bits < theirs[i-1].bits-0.05 {
			t.Errorf("%+v", r)
		}
	}
}

func testKeys() walk.Keys { return walk.NewKeys((&lab.Env{Seed: 1}).Rand(0)) }

// A kind that is described wrongly must be found out, column by column.
func TestConductSeesAWrongTable(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		asSaid     func(conduct) bool
		spoil      func(*kinds.Kind)
	}{
		{"growth", "bloom", conduct.pastCapacity, func(k *kinds.Kind) { k.Grows = true }},
		{"drift", "dynamic", conduct.pastCapacity, func(k *kinds.Kind) { k.Drifts = false }},
		{"refusals", "dleft", conduct.pastCapacity, func(k *kinds.Kind) { k.PastCapacity = "accepts" }},
		{"pins", "deletable", conduct.deletes, func(k *kinds.Kind) { k.Pins = false }},
		{"twice", "counting", conduct.twice, func(k *kinds.Kind) { k.Duplicates = filter.DuplicatesIgnored }},
		{"twice, pinned", "counting", conduct.twice, func(k *kinds.Kind) { k.Duplicates = filter.DuplicatesPin }},
		{"absent", "counting", conduct.absently, func(k *kinds.Kind) { k.AbsentDelete = "refused" }},
		{"absent, refused", "evergreen", conduct.absently, func(k *kinds.Kind) { k.AbsentDelete = "harms" }},
	} {
		k, err := kinds.ByName(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		got, err := try(k, 2_000, 5_000, testKeys())
		if err != nil || !c.asSaid(got) || got.denied != 0 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if c.spoil(&got.kind); c.asSaid(got) {
			t.Errorf("%s: a wrong table is not noticed: %+v", c.name, got)
		}
	}
}

// A subject must notice keys that are lost, refused, pinned and not found.
func TestSubjectsNoticeWhatGoesWrong(t *testing.T) {
	s, err := newSubject("dleft", 500, rate, testKeys())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.add(500), s.turn(500, true)); err != nil || s.first != 500 || s.next != 1_000 {
		t.Fatalf("%d to %d, %v", s.first, s.next, err)
	}
	if err := s.turn(500, false); err != nil || s.next-s.first != 50 {
		t.Fatalf("%d to %d, %v", s.first, s.next, err)
	}
	if got := s.look(100); got["false negatives"] != 0 || got["pinned"] != 0 || s.refused != 0 {
		t.Errorf("%+v", got)
	}
	bad := &broken{Filter: s.Filter, addErr: filter.ErrFull, deleteErr: filter.ErrPinned}
	s.Filter = bad
	if err := errors.Join(s.add(5), s.delete(10)); err != nil || s.denied() != 40 || s.refused != 5 || s.pinned != 10 {
		t.Errorf("%v denied, %+v, %v", s.denied(), s, err)
	}
	bad.deleteErr = filter.ErrNotFound
	if err := s.delete(1); err != nil || s.notFound != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	bad.addErr, bad.deleteErr = errBroken, errBroken
	if err := s.add(1); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := s.delete(1); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

var errBroken = errors.New("broken")

// broken forgets everything and answers with errors.
type broken struct {
	filter.Filter
	addErr, deleteErr error
}

func (b broken) Add(filter.Key) (bool, error) { return false, b.addErr }
func (broken) MayContain(filter.Key) bool     { return false }
func (b broken) Delete(filter.Key) error      { return b.deleteErr }

// The chosen keys are a crowd under the known hash only.
func TestChosenKeysCrowdUnderTheKnownHashOnly(t *testing.T) {
	r := (&lab.Env{Seed: 1}).Rand(0)
	for _, isSecret := range []bool{false, true} {
		s, err := attackOn("blocked", isSecret, 5_000, 2_000, r)
		if err != nil || (s["rate in the crowded part"] > 0.2) == isSecret || s["false negatives"] != 0 || (s["replayed, built again"] == 1) == isSecret {
			t.Errorf("secret %t: %+v, %v", isSecret, s, err)
		}
	}
}
