package scalable_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/filter/scalable"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)      { filtertest.Model(t, subject, 1, effort.Operations(t)/2) }
func TestGrownModel(t *testing.T) { filtertest.Model(t, grown, 2, effort.Operations(t)/2) }

func FuzzModel(f *testing.F)      { filtertest.Fuzz(f, subject) }
func FuzzGrownModel(f *testing.F) { filtertest.Fuzz(f, grown) }

func TestInvariantsHoldThroughAnything(t *testing.T) {
	for _, s := range []scalable.Shape{{Items: 1, FPR: 0.01}, {Items: 5, FPR: 0.5}, {Items: 30, FPR: 1e-5}} {
		filtertest.Invariants(t, s.Items, 100, func() *scalable.Filter { return filtertest.Make(t, scalable.Build, s) }, codec.Whole)
	}
}
