package bloom_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/filtertest"
)

func TestModel(t *testing.T)        { filtertest.Model(t, classic, 1, operations()) }
func TestBlockedModel(t *testing.T) { filtertest.Model(t, blocked, 2, operations()) }

func operations() int {
	if testing.Short() {
		return 20_000
	}
	return 100_000
}

func FuzzModel(f *testing.F)        { filtertest.Fuzz(f, classic) }
func FuzzBlockedModel(f *testing.F) { filtertest.Fuzz(f, blocked) }
