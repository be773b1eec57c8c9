package logtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/log"
)

const patience = 30 * time.Second

// RunShared tests two views of a shared log that is empty.
func RunShared(t *testing.T, one, two log.Shared) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	seen := make(chan string)
	watching, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- two.Watch(watching, 0, func(at uint64, b []byte) error {
			select {
			case seen <- fmt.Sprintf("%d %s", at, b):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	writers := []log.Shared{one, two}
	for i := range uint64(6) {
		text := fmt.Sprintf("entry %d", i+1)
		for range 2 { // a retry stores nothing
			if at, err := writers[i%2].Append(ctx, i, []byte(text)); at != i+1 || err != nil {
				t.Fatalf("append behind %d: %d, %v", i, at, err)
			}
		}
		if _, err := writers[(i+1)%2].Append(ctx, i, []byte("another")); !errors.Is(err, log.ErrMoved) {
			t.Errorf("the other writer behind %d: %v", i, err)
		}
		select {
		case got := <-seen:
			if got != fmt.Sprintf("%d %s", i+1, text) {
				t.Errorf("%q is seen instead of %q", got, text)
			}
		case err := <-ended:
			t.Fatal("Watch ended:", err)
		case <-ctx.Done():
			t.Fatal("an entry is not seen:", text)
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error("Watch ended by its context:", err)
	}
	testSharedTrim(ctx, t, one, two)
}

// testSharedTrim trims a log of 6 entries.
func testSharedTrim(ctx context.Context, t *testing.T, one, two log.Shared) {
	t.Helper()
	if err := one.Trim(ctx, 3); err != nil {
		t.Fatal(err)
	}
	if err := two.Watch(ctx, 2, func(uint64, []byte) error { return nil }); !errors.Is(err, log.ErrGap) {
		t.Errorf("Watch from a trimmed place: %v", err)
	}
	if _, err := two.Append(ctx, 2, []byte("entry 3")); !errors.Is(err, log.ErrGap) || errors.Is(err, log.ErrMoved) {
		t.Errorf("a retry whose place is trimmed: %v", err)
	}
	failure := errors.New("enough")
	if err := two.Watch(ctx, 3, func(uint64, []byte) error { return failure }); !errors.Is(err, failure) {
		t.Error("the error of do:", err)
	}
}
