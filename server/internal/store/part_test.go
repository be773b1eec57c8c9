package store

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// TestPartOfNeverChanges has items in the parts in which servers have stored them.
func TestPartOfNeverChanges(t *testing.T) {
	var got []uint16
	counts := make([]int, 7)
	for i := range 7000 {
		item := fmt.Append(nil, i)
		if i < 10 {
			got = append(got, PartOf(item, 16))
		}
		counts[PartOf(item, 7)]++
	}
	if s := fmt.Sprint(got, PartOf(nil, 16)); s != "[1 8 8 0 12 15 2 14 0 9] 10" {
		t.Error(s)
	}
	for i, n := range counts {
		if uint64(n) > Share(7000, 7) || n < 900 {
			t.Errorf("part %d has %d of 7000 items", i, n)
		}
	}
	if n := Share(100_000_000, 15); n != 6_674_413 {
		t.Error("a share of", n)
	}
}

// TestPartIsStored keeps the part of an entry in its description, and refuses what is none.
func TestPartIsStored(t *testing.T) {
	s := New()
	want := spec(t, s, frame.Blocked)
	whole := want.AppendTo(nil)
	want.Part = Part{Count: 3, Index: 2, Set: 1 << 40}
	b := want.AppendTo(nil)
	got, rest, err := ReadSpec(append(b, "rest"...))
	if err != nil || string(rest) != "rest" || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %q, %v", got, rest, err)
	}
	if whole[0] == b[0] {
		t.Error("a release that knows no parts reads one")
	}
	for n := range b {
		if _, _, err := ReadSpec(b[:n]); err == nil {
			t.Fatalf("cut to %d of %d bytes", n, len(b))
		}
	}
	for _, p := range []Part{{Count: 1}, {Count: 3, Index: 3}} {
		bad := want
		bad.Part = p
		if _, _, err := ReadSpec(bad.AppendTo(nil)); err == nil {
			t.Errorf("%+v was read", p)
		}
	}
	want.Expiry, want.Items, want.Deletes = 0, 0, 0
	apply(t, s, 1, func(b *record.Builder) { b.Named(record.Create, 1, []byte("k"), want.AppendTo(nil)) })
	e := s.ByNumber(1)
	m := e.Meta(1)
	read, _, err := ReadMeta(m.AppendTo(nil))
	if err != nil || read.Spec.Part != want.Part || !s.Spreads() {
		t.Errorf("%+v, %v", read, err)
	}
	reread(t, s, e)
}
