package dleft_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/everbloom-go/everbloom/filter/dleft"
	"github.com/everbloom-go/everbloom/filter/filtertest"
)

func TestModel(t *testing.T)    { filtertest.Model(t, subject, 1, operations(t)) }
func TestOddModel(t *testing.T) { filtertest.Model(t, odd, 2, operations(t)/4) }

// operations is how many commands a model runs: as many as the environment says,
// or as many as are quick.
func operations(tb testing.TB) int {
	tb.Helper()
	if text := os.Getenv("EVERBLOOM_OPERATIONS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	if testing.Short() || dleft.UnderRace {
		return 20_000
	}
	return 100_000
}

func FuzzModel(f *testing.F)    { filtertest.Fuzz(f, subject) }
func FuzzOddModel(f *testing.F) { filtertest.Fuzz(f, odd) }
