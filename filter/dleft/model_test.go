package dleft_test

import (
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)    { filtertest.Model(t, subject, 1, operations(t)) }
func TestOddModel(t *testing.T) { filtertest.Model(t, odd, 2, operations(t)/4) }

func operations(tb testing.TB) int {
	tb.Helper()
	return filtertest.Operations(tb, os.Getenv("EVERBLOOM_OPERATIONS"))
}

func FuzzModel(f *testing.F)    { filtertest.Fuzz(f, subject) }
func FuzzOddModel(f *testing.F) { filtertest.Fuzz(f, odd) }
