package bitmap_test

import (
	"io"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/bitmap"
	"github.com/everbloom-go/everbloom/internal/filtertest"
)

var subject = filtertest.Subject{
	Name: "bitmap",
	New: func(items uint64, fpr float64) (filter.Filter, error) {
		return bitmap.New(bitmap.Config{Items: items, FPR: fpr})
	},
	Read: func(r io.Reader) (filter.Filter, error) { return bitmap.Read(r) },
}

func TestConformance(t *testing.T) { filtertest.Run(t, subject) }

func TestModel(t *testing.T) { filtertest.Model(t, subject, 1, 1000) }
