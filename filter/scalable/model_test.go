package scalable_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)      { filtertest.Model(t, subject, 1, effort.Operations(t)/2) }
func TestGrownModel(t *testing.T) { filtertest.Model(t, grown, 2, effort.Operations(t)/2) }

func FuzzModel(f *testing.F)      { filtertest.Fuzz(f, subject) }
func FuzzGrownModel(f *testing.F) { filtertest.Fuzz(f, grown) }
