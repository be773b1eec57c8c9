package gate

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
)

// someRecords are of users that are listed, allowed, banned soon, and others.
func someRecords(n int) (list []Record) {
	r := rand.New(rand.NewPCG(7, 0))
	for range n {
		src := source(r.Uint32N(400))
		if r.IntN(8) == 0 {
			src = six(uint64(r.IntN(50)), r.Uint64())
		}
		list = append(list, Record{src, uint32("abcdxy"[r.IntN(6)]), int64(r.IntN(1000))})
	}
	return list
}

// TestBatchesAreJudgedAsRecordsAre compares batches of any size, by one engine and by
// several, with one record after the other.
func TestBatchesAreJudgedAsRecordsAre(t *testing.T) {
	list := someRecords(6000)
	for _, kind := range Kinds()[:4] {
		c := Config{
			Kind: kind, Users: 2000, Patterns: testPatterns(t), Window: 500, Hash: filter.XXH3(1),
			Blacklist: append(prefixes("2000:0:0:3::/64"), entry(1), entry(2)), Whitelist: []netip.Prefix{entry(2), entry(3)},
		}
		one, batch := gate(t, c), gate(t, c)
		c.Confirm = ConfirmAlways // other false positives in other sets
		confirmed := gate(t, c)
		several, err := NewWorkers(c, 3)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]Verdict, 1000)
		batch.StepBatch(nil, nil)
		several.StepBatch(nil, nil)
		for from, n := 0, 1; from < len(list); from, n = from+n, min(n*3%997+1, len(list)-from-n) {
			part := list[from : from+n]
			batch.StepBatch(part, out)
			for i, r := range part {
				if want := one.Step(r.Src, r.Word, r.At); out[i] != want {
					t.Fatalf("%s: record %d of %v: %v, want %v", kind, from+i, r.Src, out[i], want)
				}
			}
			several.StepBatch(part, out)
			for i, r := range part {
				if want := confirmed.Step(r.Src, r.Word, r.At); out[i] != want {
					t.Fatalf("%s: record %d of %v by several engines: %v, want %v", kind, from+i, r.Src, out[i], want)
				}
			}
		}
		if got, want := batch.Stats(), one.Stats(); !reflect.DeepEqual(got, want) || want.Bans == 0 {
			t.Errorf("%s: %+v, want %+v", kind, got, want)
		}
		got, want := several.Stats(), confirmed.Stats()
		if got.Packets != want.Packets || got.Bans != want.Bans || got.Banned.Keys != want.Banned.Keys || got.States != want.States || !reflect.DeepEqual(got.Reasons, want.Reasons) {
			t.Errorf("%s: several engines: %+v, want %+v", kind, got, want)
		}
		for i := range uint32(400) {
			if got, want := several.Query(source(i)), confirmed.Query(source(i)); got.Standing != want.Standing && (got.Standing == Bad || want.Standing == Bad) {
				t.Errorf("%s: %v: %v, want %v", kind, source(i), got, want)
			}
		}
	}
	low := new(LimitError)
	if _, err := NewWorkers(Config{Memory: 2}, 3); !errors.As(err, &low) || low.Memory != 2 {
		t.Fatalf("a limit of two bytes: %v", err)
	}
	enough := low.Enough
	if _, err := NewWorkers(Config{Memory: enough}, 3); err != nil {
		t.Error(err)
	}
	if _, err := NewWorkers(Config{Memory: enough - 1}, 3); !errors.As(err, &low) || low.Enough != enough {
		t.Errorf("a byte less: %v", err)
	}
	for _, n := range []int{0, 65} {
		if _, err := NewWorkers(Config{}, n); err == nil {
			t.Errorf("%d workers", n)
		}
	}
}
