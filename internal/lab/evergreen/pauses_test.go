package evergreen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/lab"
)

func TestDirectionsSeeALongPause(t *testing.T) {
	records := func(own, rival time.Duration) []*record {
		a, b := &record{contender: contender{name: ownName}}, &record{contender: contender{name: atOnceName}}
		a.adds.add(own)
		b.adds.add(rival)
		return []*record{a, b}
	}
	if c := directions(records(time.Millisecond, time.Second))[0]; c.Verdict != lab.Reproduced {
		t.Errorf("%+v", c)
	}
	if c := directions(records(time.Second, time.Millisecond))[0]; c.Verdict != lab.Differs || c.Unexpected() {
		t.Errorf("%+v", c)
	}
}

func TestPaceSeesAJump(t *testing.T) {
	var p pace
	p.note(10, 10)
	p.note(10, 11)
	p.note(11, 9)
	if c := p.check("steps"); c.Verdict != lab.Reproduced || p.most != 2 || p.steps != 2 {
		t.Errorf("%+v, %+v", p, c)
	}
	p.note(9, 18)
	if c := p.check("steps"); c.Verdict != lab.Differs {
		t.Errorf("%+v", c)
	}
}

// TestEachOperationIsTimedByItself has a clock that the operations move.
func TestEachOperationIsTimedByItself(t *testing.T) {
	var (
		now time.Duration
		h   histogram
		got []filter.Key
	)
	k := testKeys()
	err := timeEach(func() time.Duration { return now }, &h, k, 5, 3, func(key filter.Key) error {
		got = append(got, key)
		now += time.Duration(len(got)) * time.Millisecond
		return nil
	})
	if err != nil || h.n != 3 || h.longest != 3*time.Millisecond {
		t.Errorf("%d operations, the longest %v, %v", h.n, h.longest, err)
	}
	if len(got) != 3 || got[0] != k.member(5) || got[2] != k.member(7) {
		t.Errorf("%x", got)
	}
	broken := errors.New("broken")
	if err := timeEach(func() time.Duration { return 0 }, &h, k, 0, 3, func(filter.Key) error { return broken }); !errors.Is(err, broken) || h.n != 4 {
		t.Errorf("%d operations, %v", h.n, err)
	}
}

func TestContendersTakeTurns(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("keys", 20), lab.Int("stride", 10)}}
	records := []*record{{contender: contender{name: "a"}}, {contender: contender{name: "b"}}}
	var order []string
	note := func(r *record, start int) error {
		order = append(order, fmt.Sprint(r.name, start))
		return nil
	}
	if err := inTurns(t.Context(), e, records, note); err != nil || !slices.Equal(order, []string{"a0", "b0", "a10", "b10"}) {
		t.Errorf("%v, %v", order, err)
	}
	broken := errors.New("broken")
	if err := inTurns(t.Context(), e, records, func(*record, int) error { return broken }); !errors.Is(err, broken) || err.Error() != "a: broken" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := inTurns(ctx, e, records, note); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestTablesOfPausesLeaveOutWhoDidNothing(t *testing.T) {
	a, b := &record{contender: contender{name: "a"}}, &record{contender: contender{name: "b"}}
	a.adds.add(2 * time.Microsecond)
	b.deletes.add(time.Microsecond)
	records := []*record{a, b}
	table := pauseTable("adds", "Adds", records, func(r *record) *histogram { return &r.adds })
	if len(table.Rows) != 1 || table.Rows[0][0] != "a" || table.Rows[0][1] != "1" || table.Rows[0][7] != "2.00" || len(table.Rows[0]) != len(table.Columns) {
		t.Errorf("%q", table.Rows)
	}
	a.adds.add(time.Second)
	if p := pausePlot("x", "x", records); len(p.Series) != 1 || p.Series[0].Name != "a" {
		t.Errorf("%+v", p.Series)
	}
	if find(records, "b") != b || find(records, "nobody").adds.n != 0 {
		t.Error("somebody else was found")
	}
}

// TestEveryContenderAddsAndDeletesAllKeys runs the race with a clock that stands.
func TestEveryContenderAddsAndDeletesAllKeys(t *testing.T) {
	e := &lab.Env{Params: lab.Params{lab.Int("keys", 4000), lab.Int("first size", 500), lab.Float("rate", 0.01), lab.Int("stride", 500)}}
	records, err := race(t.Context(), e, func() time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		deletes := 0
		if r.contender.deletes {
			deletes = 4000
		}
		if r.adds.n != 4000 || r.deletes.n != deletes {
			t.Errorf("%s: %d adds, %d deletes", r.name, r.adds.n, r.deletes.n)
		}
	}
}

func TestStepsAreCountedBothWays(t *testing.T) {
	w := newWalker(t, evergreen.Config{FPR: 0.01})
	up, err := w.pace(t.Context(), 20_000, w.f.Blocks, w.grow)
	if err != nil || up.steps == 0 || up.most == 0 {
		t.Errorf("%+v, %v", up, err)
	}
	down, err := w.pace(t.Context(), 0, w.f.Blocks, w.shrink)
	if err != nil || down.steps == 0 || w.len() != 0 {
		t.Errorf("%+v, %v; %d keys left", down, err, w.len())
	}
	if c := (pace{}).check("steps"); c.Verdict != lab.Differs {
		t.Errorf("nothing has changed the size: %+v", c)
	}
}
