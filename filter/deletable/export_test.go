package deletable

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// FewRegions is the margin that requests are planned with.
func FewRegions(share, regions float64) float64 { return fewRegions(share, regions) }

// Positions returns the cells of k, in order and each once.
func (s Shape) Positions(k filter.Key) []uint64 {
	var cells []uint64
	h := probe.NewMixer(s.Salt).Mix(k)
	for range s.Hashes {
		cells = append(cells, probe.Reduce(h, s.Cells()))
		h = probe.Step(h)
	}
	slices.Sort(cells)
	return slices.Compact(cells)
}
