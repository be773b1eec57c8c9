package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/frame"
	"github.com/everbloom-go/everbloom/server/internal/record"
)

// apply applies effects as one record.
func apply(t *testing.T, s *Store, number uint64, build func(*record.Builder)) []Outcome {
	t.Helper()
	var b record.Builder
	build(&b)
	_, effects, err := record.Open(b.Record(record.Header{Number: number}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Apply(number, effects, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// spec returns the description of an entry of a kind.
func spec(t *testing.T, s *Store, kind frame.Kind) Spec {
	t.Helper()
	shape, err := s.Shape(kind, 1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	x := Spec{Type: Bloom, Kind: kind, Shape: shape, Capacity: 1000, FPR: 0.01, Expansion: 2, BucketSize: 3, Iterations: 4, Limit: 5, Expiry: 6, Items: 7, Deletes: 8, Fixed: true}
	if kind == frame.Perennial || kind == frame.Evergreen || kind == frame.DLeft || kind == frame.Counting {
		x.Type = Cuckoo
	}
	return x
}

func TestSpecIsStoredWhole(t *testing.T) {
	s := New()
	for kind := range makers {
		want := spec(t, s, kind)
		b := want.AppendTo(nil)
		got, rest, err := ReadSpec(append(b, "rest"...))
		if err != nil || string(rest) != "rest" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %q, %v", KindName(kind), got, rest, err)
		}
		for n := range b {
			if _, _, err := ReadSpec(b[:n]); err == nil {
				t.Fatalf("%s: cut to %d of %d bytes", KindName(kind), n, len(b))
			}
		}
	}
}

// TestEveryKind adds, deletes, asks and is read back.
func TestEveryKind(t *testing.T) {
	for kind := range makers {
		t.Run(KindName(kind), func(t *testing.T) {
			s := New()
			x := spec(t, s, kind)
			x.Expiry, x.Items, x.Deletes = 0, 0, 0
			apply(t, s, 1, func(b *record.Builder) { b.Named(record.Create, 1, []byte("k"), x.AppendTo(nil)) })
			add := record.Present
			e := s.ByNumber(1)
			if !e.Ignores() {
				add = record.Add
			}
			out := apply(t, s, 2, func(b *record.Builder) {
				for k := range 300 {
					b.Key(add, 1, s.Hash().Uint64(uint64(k)))
				}
			})
			if len(out) != 300 || e.Items() < 290 || e.Version() != 2 {
				t.Errorf("%d outcomes, %d items, version %d", len(out), e.Items(), e.Version())
			}
			for k := range 300 {
				if !e.MayContain(s.Hash().Uint64(uint64(k))) {
					t.Fatalf("%d is missing", k)
				}
			}
			if x.Type == Cuckoo {
				remove := record.Absent
				if !e.Ignores() {
					remove = record.Remove
				}
				out := apply(t, s, 3, func(b *record.Builder) {
					b.Key(remove, 1, s.Hash().Uint64(7))
					b.Key(record.Ask, 1, s.Hash().Uint64(8))
				})
				if fmt.Sprint(out) != "[1 1]" || e.Deletes() != 1 {
					t.Errorf("outcomes %v, %d deletes", out, e.Deletes())
				}
			}
			fills, sum := e.Fills(5), 0.0
			for _, f := range fills {
				sum += f
			}
			if isList := kind == frame.Evergreen; isList != (len(fills) == 0) || !isList && (sum <= 0 || sum > 5) || len(fills) > 5 {
				t.Error("fills", fills)
			}
			reread(t, s, e)
		})
	}
}

// reread writes an entry and loads it into another store.
func reread(t *testing.T, s *Store, e *Entry) {
	t.Helper()
	image, err := e.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := image.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	meta := e.Meta(9)
	m, rest, err := ReadMeta(meta.AppendTo(nil))
	if err != nil || len(rest) > 0 {
		t.Fatal(err)
	}
	again := New()
	again.LoadState(s.Hash(), s.LastNumber(), nil)
	if err := again.Load(m, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	// What is in the image is not applied again.
	apply(t, again, 9, func(b *record.Builder) { b.Data(record.Drop, 1, []byte{1}) })
	if err := again.Loaded(); err != nil {
		t.Fatal(err)
	}
	o := again.Lookup([]byte("k"), 0)
	if o == nil || o.Items() != e.Items() || o.Deletes() != e.Deletes() {
		t.Fatalf("%+v", o)
	}
	for k := range uint64(1000) {
		if key := s.Hash().Uint64(k); o.MayContain(key) != e.MayContain(key) {
			t.Fatalf("%d is answered otherwise", k)
		}
	}
}

// TestGoneEntriesAreSkipped replays effects on an entry that was dropped while images were
// written, and refuses those on one that never was.
func TestGoneEntriesAreSkipped(t *testing.T) {
	s := New()
	s.LoadState(filter.Hash{}, 5, map[uint64]uint64{3: 10})
	apply(t, s, 10, func(b *record.Builder) { b.Key(record.Present, 3, 1); b.Data(record.Drop, 3, []byte{1}) })
	var b record.Builder
	b.Key(record.Present, 3, 1)
	_, effects, _ := record.Open(b.Record(record.Header{Number: 11}))
	if _, err := s.Apply(11, effects, nil); err == nil {
		t.Error("an effect on an entry that is not there is accepted")
	}
	if s.NextNumber() != 6 {
		t.Error("a number is given out twice")
	}
}

// TestScanSeesEachNameOnce scans two stores with the same names in turn, as a client does that
// reaches another node each time.
func TestScanSeesEachNameOnce(t *testing.T) {
	stores := [...]*Store{New(), New()}
	x := Spec{Type: Text}
	for _, s := range stores {
		if err := s.Loaded(); err != nil {
			t.Fatal(err)
		}
		for i := range uint64(3000) {
			apply(t, s, i+1, func(b *record.Builder) { b.Named(record.Create, i+1, fmt.Append(nil, i), x.AppendTo(nil)) })
		}
	}
	seen := make(map[string]int)
	calls := 0
	for cursor := uint64(0); ; {
		calls++
		if cursor = stores[calls%2].Scan(cursor, 10, 0, func(name string, _ *Entry) { seen[name]++ }); cursor == 0 {
			break
		}
	}
	if s := stores[0]; s.shardOf([]byte("visitors")) != &s.shards[828] {
		t.Error("the shard of a name is not that of other processes")
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s: %d times", name, n)
		}
	}
	if len(seen) != 3000 || calls < 50 {
		t.Errorf("%d names in %d calls", len(seen), calls)
	}
}

// TestSpecsThatMakeNoSense tries what only a forged dump has.
func TestSpecsThatMakeNoSense(t *testing.T) {
	s := New()
	good := spec(t, s, frame.Perennial)
	for name, change := range map[string]func(*Spec){
		"type 0":           func(x *Spec) { x.Type = 0 },
		"type 4":           func(x *Spec) { x.Type = 4 },
		"a text of a kind": func(x *Spec) { x.Type = Text },
		"no capacity":      func(x *Spec) { x.Capacity = 0 },
		"capacity":         func(x *Spec) { x.Capacity = 1 << 63 },
		"limit":            func(x *Spec) { x.Limit = 1 << 63 },
		"items":            func(x *Spec) { x.Items = 1 << 63 },
		"deletes":          func(x *Spec) { x.Deletes = 1 << 63 },
		"expiry":           func(x *Spec) { x.Expiry = -1 },
		"rate":             func(x *Spec) { x.FPR = math.NaN() },
		"rate above 1":     func(x *Spec) { x.FPR = 2 },
	} {
		x := good
		change(&x)
		if _, _, err := ReadSpec(x.AppendTo(nil)); err == nil {
			t.Errorf("%s is read", name)
		}
		if _, err := s.NewEntry(1, "k", x, nil); err == nil {
			t.Errorf("%s becomes an entry", name)
		}
	}
}

// TestContentIsAsDescribed gives the content of one kind the description of another, and a
// filter that has grown its own.
func TestContentIsAsDescribed(t *testing.T) {
	s := New()
	contents := make(map[frame.Kind][]byte)
	for kind := range makers {
		x := spec(t, s, kind)
		e, err := s.NewEntry(1, "k", x, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 20_000 {
			if _, err := e.filter.Add(s.Hash().Uint64(uint64(k))); err != nil {
				break // it does not grow
			}
		}
		image, err := e.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := image.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		contents[kind] = b.Bytes()
		if _, err := s.Adopt(2, "k", x, b.Bytes()); err != nil {
			t.Errorf("%s: %v", KindName(kind), err)
		}
		x.Shape = append(frame.Shape(nil), x.Shape...)
		x.Shape[0].Value = frame.Uint(12345)
		if _, err := s.Adopt(2, "k", x, b.Bytes()); !errors.Is(err, ErrContent) {
			t.Errorf("%s with another shape: %v", KindName(kind), err)
		}
	}
	bloom := spec(t, s, frame.Bloom)
	if _, err := s.Adopt(2, "k", bloom, contents[frame.Perennial]); !errors.Is(err, ErrContent) {
		t.Error("another kind:", err)
	}
	bloom.Type = Cuckoo
	if _, err := s.Adopt(2, "k", bloom, contents[frame.Bloom]); !errors.Is(err, ErrContent) {
		t.Error("a kind that does not delete:", err)
	}
}

// TestFindersForget has the entry of a name become another, end and go.
func TestFindersForget(t *testing.T) {
	s := New()
	if err := s.Loaded(); err != nil {
		t.Fatal(err)
	}
	f := NewFinder(s)
	name := []byte("k")
	want := func(number uint64, now int64) {
		t.Helper()
		for range 2 {
			switch e := f.Lookup(name, now); {
			case e == nil && number != 0, e != nil && e.Number() != number:
				t.Errorf("%v, want entry %d", e, number)
			}
		}
	}
	text := Spec{Type: Text}
	create := func(b *record.Builder, number uint64) { b.Named(record.Create, number, name, text.AppendTo(nil)) }
	want(0, 0)
	apply(t, s, 1, func(b *record.Builder) { create(b, 1) })
	want(1, 0)
	apply(t, s, 2, func(b *record.Builder) { b.Named(record.Rename, 1, []byte("other"), nil) })
	want(0, 0)
	apply(t, s, 3, func(b *record.Builder) { create(b, 2) })
	want(2, 0)
	apply(t, s, 4, func(b *record.Builder) { b.Data(record.Expire, 2, appendUint64(nil, 1000)) })
	want(2, 999)
	want(0, 1000)
	apply(t, s, 5, func(b *record.Builder) { b.Data(record.Drop, 2, []byte{1}) })
	want(0, 0)
}
