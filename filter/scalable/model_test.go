package scalable_test

import (
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func operations(tb testing.TB) int {
	tb.Helper()
	return filtertest.Operations(tb, os.Getenv("EVERBLOOM_OPERATIONS"))
}

func TestModel(t *testing.T)      { filtertest.Model(t, subject, 1, operations(t)/2) }
func TestGrownModel(t *testing.T) { filtertest.Model(t, grown, 2, operations(t)/2) }

func FuzzModel(f *testing.F)      { filtertest.Fuzz(f, subject) }
func FuzzGrownModel(f *testing.F) { filtertest.Fuzz(f, grown) }
