package record

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/filter"
)

// sample builds a record with an effect of each sort.
func sample(c Chain) []byte {
	var b Builder
	b.Data(Hash, 0, []byte("hash"))
	b.Named(Create, 7, []byte("name"), []byte("spec"))
	b.Key(Present, 7, 1)
	b.Key(Present, 7, 2)
	b.Key(Absent, 7, 3)
	b.Key(Absent, 300, 3)
	b.Named(Rename, 300, []byte("other"), nil)
	b.Data(Drop, 300, []byte{byte(ByTime)})
	return b.Record(Header{Epoch: 2, Number: c.Number + 1, Time: 1234, Previous: c.Sum})
}

// text returns what a record says.
func text(e Effects) (s string, err error) {
	for {
		x, ok, err := e.Next()
		if err != nil || !ok {
			return s, err
		}
		s += fmt.Sprintf("%d:%d:%v:%s:%s ", x.Code, x.Entry, x.Keys.AppendTo(nil), x.Name, x.Data)
	}
}

func TestRecordHoldsItsEffects(t *testing.T) {
	start := Chain{41, 99, 2}
	next, h, effects, err := start.Next(sample(start))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Header{Level: 1, Epoch: 2, Number: 42, Time: 1234, Previous: 99, Effects: 7}); h != want || next.Number != 42 {
		t.Errorf("header %+v, want %+v, then %v", h, want, next)
	}
	got, err := text(effects)
	want := "22:0:[]::hash 16:7:[]:name:spec 1:7:[1 2]:: 2:7:[3]:: 2:300:[3]:: 18:300:[]:other: 17:300:[]::\x02 "
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestRunsAreSplitWhenTheyAreFull(t *testing.T) {
	var b Builder
	for i := range 70_000 {
		b.Key(Add, 1, filter.Key(i))
	}
	_, e, err := Open(b.Record(Header{}))
	if err != nil {
		t.Fatal(err)
	}
	var keys []filter.Key
	for {
		x, ok, err := e.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		keys = x.Keys.AppendTo(keys)
	}
	if b.Effects() != 2 || len(keys) != 70_000 || keys[69_999] != 69_999 {
		t.Errorf("%d effects, %d keys", b.Effects(), len(keys))
	}
}

func TestEveryFlippedBitIsFound(t *testing.T) {
	whole := sample(Chain{})
	for i := range 8 * len(whole) {
		b := bytes.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		if _, _, err := Open(b); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Fatalf("bit %d: %v", i, err)
		}
	}
	for n := range whole {
		if _, _, err := Open(whole[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d: %v", n, err)
		}
	}
}

func TestChainFindsWhatIsMissingOrTwice(t *testing.T) {
	one := sample(Chain{})
	two := sample(Of(one))
	three := sample(Of(two))
	if _, _, _, err := Of(one).Next(three); !errors.Is(err, ErrDamaged) {
		t.Error("a missing record:", err)
	}
	if _, _, _, err := Of(two).Next(two); !errors.Is(err, ErrDamaged) {
		t.Error("a record twice:", err)
	}
	if _, _, _, err := (Chain{1, 5, 0}).Next(two); !errors.Is(err, ErrDamaged) {
		t.Error("behind another record:", err)
	}
	later := Of(one)
	later.Epoch = 3
	if _, _, _, err := later.Next(two); !errors.Is(err, ErrDamaged) {
		t.Error("an epoch that goes back:", err)
	}
}

// TestLevels looks at the version byte: a release that knows level 1 alone must refuse a record
// that has an effect of level 2, and read all others.
func TestLevels(t *testing.T) {
	var b Builder
	for _, c := range []struct {
		add   func()
		level byte
	}{
		{func() { b.Data(Copies, 1, []byte("0123456789ab")) }, 1},
		{func() { b.Data(Claim, 0, []byte("x")) }, 2},
		{func() { b.Key(Add, 1, 1) }, 2},
		{func() { b.Reset(); b.Key(Add, 1, 1) }, 1},
	} {
		c.add()
		if r := b.Record(Header{}); r[2] != c.level {
			t.Errorf("%d effects: level %d, want %d", b.Effects(), r[2], c.level)
		}
	}
	r := b.Record(Header{})
	r[2] = Highest + 1
	if _, _, err := Open(r); !errors.Is(err, ErrNewer) {
		t.Error("a level above the highest:", err)
	}
}

func TestLease(t *testing.T) {
	l := Lease{Node: "n1", Address: "[::1]:6379", Lasts: 5 * time.Second}
	data := l.AppendTo(nil)
	if got, err := ReadLease(data); got != l || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for n := range data {
		if _, err := ReadLease(data[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d: %v", n, err)
		}
	}
	for _, bad := range []Lease{{Lasts: time.Second}, {Node: "n1"}, {Node: "n1", Lasts: 1e6 * time.Hour}} {
		if _, err := ReadLease(bad.AppendTo(nil)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := ReadLease(append(data, 0)); !errors.Is(err, ErrDamaged) {
		t.Error("a byte more:", err)
	}
}

// FuzzEffects gives bytes with a right checksum, which damage would not have.
func FuzzEffects(f *testing.F) {
	f.Add(sample(Chain{})[headerSize:], uint32(7))
	f.Add([]byte{1, 1, 255, 255}, uint32(1))
	f.Fuzz(func(t *testing.T, content []byte, n uint32) {
		e := Effects{content, n}
		if s, err := text(e); err == nil && n > 0 && s == "" {
			t.Error("effects without a text")
		}
	})
}
