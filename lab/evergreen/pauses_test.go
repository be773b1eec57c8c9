package evergreen

import (
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/lab"
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
