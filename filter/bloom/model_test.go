package bloom_test

import (
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

func TestModel(t *testing.T)        { filtertest.Model(t, classic, 1, effort.Operations(t)) }
func TestBlockedModel(t *testing.T) { filtertest.Model(t, blocked, 2, effort.Operations(t)) }

func FuzzModel(f *testing.F)        { filtertest.Fuzz(f, classic) }
func FuzzBlockedModel(f *testing.F) { filtertest.Fuzz(f, blocked) }
