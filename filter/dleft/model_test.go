package dleft_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)    { filtertest.Model(t, subject, 1, effort.Operations(t)) }
func TestOddModel(t *testing.T) { filtertest.Model(t, odd, 2, effort.Operations(t)/4) }

func FuzzModel(f *testing.F)    { filtertest.Fuzz(f, subject) }
func FuzzOddModel(f *testing.F) { filtertest.Fuzz(f, odd) }
