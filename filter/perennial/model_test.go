package perennial_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)     { filtertest.Model(t, subject, 1, effort.Operations(t)/2) }
func TestTinyModel(t *testing.T) { filtertest.Model(t, tiny, 2, effort.Operations(t)/2) }

func FuzzModel(f *testing.F)     { filtertest.Fuzz(f, subject) }
func FuzzTinyModel(f *testing.F) { filtertest.Fuzz(f, tiny) }
