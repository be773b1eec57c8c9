package field

import (
	"errors"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/labtest"
)

func TestClaimsHold(t *testing.T) { labtest.Claims(t, Experiments()) }

var brief = lab.Params{lab.Int("keys", 1_000), lab.Int("queries", 1_000), lab.Int("trials", 3), lab.Int("turns", 2), lab.Int("rounds", 2), lab.Int("universe", 5_000), lab.Int("first size", 100), lab.Int("sizes", 4)}

func TestTrialsDoNotRace(t *testing.T) { labtest.Briefly(t, Experiments(), brief) }

func TestResultsDependOnTheSeedOnly(t *testing.T) {
	labtest.Seeded(t, []lab.Experiment{abilities}, brief)
}

func TestRunsStopWhenInterrupted(t *testing.T) { labtest.Interrupted(t, Experiments()) }

func TestTheirsAreInOrderOfTheirBits(t *testing.T) {
	for i, r := range theirs {
		if r.rate <= 0 || r.insert <= 0 || r.absent <= 0 || i > 0 && r.bits < theirs[i-1].bits-0.05 {
			t.Errorf("%+v", r)
		}
	}
}

// A stream must tell keys that repeat from those that do not.
func TestStreamsCountRepeats(t *testing.T) {
	r := (&lab.Env{Seed: 1}).Rand(0)
	c, err := newChurn("counting", 100, r)
	if err != nil {
		t.Fatal(err)
	}
	all := yesMan{c.f}
	i := uint64(0)
	if s := ask(all, c.k, func() uint64 { i++; return i % 4 }, 100, false); s.rate != 1 || s.repeats != 0.96 {
		t.Errorf("%+v", s)
	}
	if s := ask(all, c.k, func() uint64 { i++; return i }, 100, true); s.repeats != 0 || s.once != 1 {
		t.Errorf("%+v", s)
	}
}

type yesMan struct{ filter.Filter }

func (yesMan) MayContain(filter.Key) bool { return true }

// A turn must notice keys that are lost, refused and pinned.
func TestTurnsNoticeWhatGoesWrong(t *testing.T) {
	c, err := newChurn("dleft", 500, (&lab.Env{Seed: 1}).Rand(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.turn(true); err != nil || c.first != 500 || c.next != 1_000 {
		t.Fatalf("%d to %d, %v", c.first, c.next, err)
	}
	if err := c.turn(false); err != nil || c.next-c.first != 50 {
		t.Fatalf("%d to %d, %v", c.first, c.next, err)
	}
	if got := c.look(100); got.lost != 0 || got.refused != 0 {
		t.Errorf("%+v", got)
	}
	c.f = broken{c.f}
	if err := errors.Join(c.add(5), c.delete(10)); err != nil {
		t.Fatal(err)
	}
	if got := c.look(100); got.lost != 40 || got.refused != 5 || c.pinned != 10 {
		t.Errorf("%+v", got)
	}
}

// broken is full, forgets everything and pins what it has.
type broken struct{ filter.Filter }

func (broken) Add(filter.Key) (bool, error) { return false, filter.ErrFull }
func (broken) MayContain(filter.Key) bool   { return false }
func (broken) Delete(filter.Key) error      { return filter.ErrPinned }

// The chosen keys are a crowd under the known hash only.
func TestChosenKeysCrowdUnderTheKnownHashOnly(t *testing.T) {
	r := (&lab.Env{Seed: 1}).Rand(0)
	for _, isSecret := range []bool{false, true} {
		s, err := besiege("blocked", isSecret, 5_000, 2_000, 10, r)
		if err != nil || (s.crowded > 0.2) == isSecret || s.lost != 0 || s.same != 1 || (s.again == 1) == isSecret {
			t.Errorf("secret %t: %+v, %v", isSecret, s, err)
		}
	}
}
