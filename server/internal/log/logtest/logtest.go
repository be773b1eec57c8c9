// Package logtest holds the tests that every log must pass.
package logtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

// Run tests a log that is empty when open first opens it. What was appended is there when
// it is opened again.
func Run(t *testing.T, open func(t *testing.T) log.Log) {
	t.Helper()
	ctx := context.Background()
	l := open(t)
	if last, err := l.Last(ctx); last != 0 || err != nil {
		t.Fatalf("an empty log: last %d, %v", last, err)
	}
	var want []string
	for i := range uint64(20) {
		b := fmt.Appendf(nil, "entry %d %s", i+1, make([]byte, i*100))
		at, err := l.Append(ctx, i, b)
		if at != i+1 || err != nil {
			t.Fatalf("append behind %d: %d, %v", i, at, err)
		}
		want = append(want, string(b))
	}
	for _, after := range []uint64{0, 19, 21} {
		if _, err := l.Append(ctx, after, []byte("wrong")); !errors.Is(err, log.ErrMoved) {
			t.Errorf("append behind %d of 20: %v", after, err)
		}
	}
	check := func(after uint64) {
		t.Helper()
		if got := entries(t, l, after); !slices.Equal(got, want[after:]) {
			t.Errorf("%d entries behind %d, want %d", len(got), after, len(want[after:]))
		}
	}
	check(0)
	check(7)
	check(20)
	failure := errors.New("enough")
	if err := l.Follow(ctx, 0, func(uint64, []byte) error { return failure }); !errors.Is(err, failure) {
		t.Error("the error of do:", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t)
	check(0)
	testTrim(t, l)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// testTrim trims a log of 20 entries.
func testTrim(t *testing.T, l log.Log) {
	t.Helper()
	ctx := context.Background()
	if err := l.Trim(ctx, 20); err != nil {
		t.Fatal(err)
	}
	if last, err := l.Last(ctx); last != 20 || err != nil {
		t.Errorf("trimmed: last %d, %v", last, err)
	}
	if at, err := l.Append(ctx, 20, []byte("more")); at != 21 || err != nil {
		t.Errorf("append behind a trimmed log: %d, %v", at, err)
	}
	if got := entries(t, l, 20); !slices.Equal(got, []string{"more"}) {
		t.Errorf("behind a trimmed log: %q", got)
	}
	seen := 0
	err := l.Follow(ctx, 3, func(uint64, []byte) error { seen++; return nil })
	if seen != 17+1 && !errors.Is(err, log.ErrGap) {
		t.Errorf("%d entries from a trimmed place, %v", seen, err)
	}
	if err := l.Follow(ctx, 30, func(uint64, []byte) error { return nil }); !errors.Is(err, log.ErrGap) {
		t.Errorf("from behind the end: %v", err)
	}
}

func entries(t *testing.T, l log.Log, after uint64) (got []string) {
	t.Helper()
	err := l.Follow(context.Background(), after, func(at uint64, b []byte) error {
		if after++; at != after {
			return fmt.Errorf("position %d, want %d", at, after)
		}
		got = append(got, string(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
