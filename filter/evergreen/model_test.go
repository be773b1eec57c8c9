package evergreen_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/evergreen"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)         { filtertest.Model(t, subject, 1, effort.Operations(t)) }
func TestPresizedModel(t *testing.T) { filtertest.Model(t, presized, 2, effort.Operations(t)/4) }
func TestCompactModel(t *testing.T)  { filtertest.Model(t, compact, 3, effort.Operations(t)/2) }

// TestTurningModels has filters turn from lists to tables and back all the time.
func TestTurningModels(t *testing.T) {
	evergreen.Inboxes(t)
	for i, most := range []int{1, 6, 40} {
		evergreen.Lists(t, most)
		filtertest.Model(t, subject, 7+uint64(i), effort.Operations(t)/4)
	}
}

// TestInboxModels has inboxes, which otherwise only large filters have.
func TestInboxModels(t *testing.T) {
	evergreen.Inboxes(t)
	filtertest.Model(t, subject, 4, effort.Operations(t)/2)
	filtertest.Model(t, compact, 5, effort.Operations(t)/4)
}

// TestAddAndDelete has more keys than the model, so that the filter grows and shrinks.
func TestAddAndDelete(t *testing.T) {
	evergreen.Eager(t)
	for _, width := range []int{56, 32} {
		f := filtertest.Make(t, evergreen.New, evergreen.Config{FPR: 0.001, Width: width})
		filtertest.AddAndDelete(t, f, f.Check, 30_000, uint64(width), effort.Operations(t)/4)
	}
}

// FuzzModel has lists that turn into tables, and back, after few keys.
func FuzzModel(f *testing.F) {
	evergreen.Lists(f, 12)
	filtertest.Fuzz(f, subject)
}

func FuzzCompactModel(f *testing.F) { filtertest.Fuzz(f, compact) }
