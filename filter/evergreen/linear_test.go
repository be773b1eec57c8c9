package evergreen

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
	"github.com/everbloom-go/everbloom/internal/line/linetest"
)

// TestHistoriesAreLinearizable records short histories of a few keys, beside a
// goroutine that resizes, and checks each.
func TestHistoriesAreLinearizable(t *testing.T) {
	histories := effort.PickVariant(100, 100, 1500)
	Eager(t)
	linetest.EachLevel(t, func(t *testing.T) {
		t.Helper()
		f := mustBuild(t, Shape{FPR: 0.01, Hashes: 8, Width: 56})
		var done atomic.Bool
		var resizer sync.WaitGroup
		resizer.Go(func() {
			for !done.Load() {
				for range 20 {
					f.Grow()
				}
				for range 20 {
					f.Shrink()
				}
			}
		})
		filtertest.Histories(t, f, histories, "add", "delete", "contains", "may", "may")
		done.Store(true)
		resizer.Wait()
		if err := f.check(); err != nil {
			t.Error(err)
		}
	})
}
