package bloom_test

import (
	"os"
	"testing"

	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)        { filtertest.Model(t, classic, 1, operations(t)) }
func TestBlockedModel(t *testing.T) { filtertest.Model(t, blocked, 2, operations(t)) }

func operations(tb testing.TB) int {
	tb.Helper()
	return filtertest.Operations(tb, os.Getenv("EVERBLOOM_OPERATIONS"))
}

func FuzzModel(f *testing.F)        { filtertest.Fuzz(f, classic) }
func FuzzBlockedModel(f *testing.F) { filtertest.Fuzz(f, blocked) }
