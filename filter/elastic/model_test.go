package elastic_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/elastic"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

// Models double filters at random, so how often that can be done is limited: time
// would go into sizes that have nothing new to show. Running into the limit is part
// of what is tested.
var (
	plainModel   = kind("elastic", 1, elastic.Config{Growth: 2})
	growingModel = kind("elastic growing", 16, elastic.Config{Growth: 7, Salt: 5})
	tightModel   = kind("elastic tight", 8, elastic.Config{Growth: 8, Slots: 2})
	narrowModel  = kind("elastic narrow", 4, elastic.Config{Growth: 6, Slots: 2, Branches: 7, Hashes: 3})
	eagerModel   = kind("elastic eager", 4, elastic.Config{Growth: 6, Branches: 1, Eager: true})
)

func TestModel(t *testing.T)        { filtertest.Model(t, plainModel, 1, operations(t)) }
func TestGrowingModel(t *testing.T) { filtertest.Model(t, growingModel, 2, operations(t)) }
func TestTightModel(t *testing.T)   { filtertest.Model(t, tightModel, 3, operations(t)) }
func TestNarrowModel(t *testing.T)  { filtertest.Model(t, narrowModel, 4, operations(t)) }
func TestEagerModel(t *testing.T)   { filtertest.Model(t, eagerModel, 5, operations(t)) }

// operations is how many commands each of the five models runs.
func operations(tb testing.TB) int {
	tb.Helper()
	return effort.Operations(tb) / 5
}

func FuzzModel(f *testing.F)        { filtertest.Fuzz(f, plainModel) }
func FuzzGrowingModel(f *testing.F) { filtertest.Fuzz(f, growingModel) }
func FuzzTightModel(f *testing.F)   { filtertest.Fuzz(f, tightModel) }
