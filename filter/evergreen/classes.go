package evergreen

import "sync"

const (
	pageBytes = 4096
	pageWords = pageBytes / 8

	// ownerBytes is the beginning of every run: the number of the block it belongs to.
	ownerBytes = 4
)

// runSizes are the sizes in bytes that a run can have. Each is a multiple of 8, and
// a page has hardly anything left over when it is cut into runs of one size. The
// first stands for no run at all.
var runSizes = [...]int{
	0, 32, 48, 64, 96, 128, 160, 208, 256, 336, 448, 584, 816, 1360, 4096,
}

const classCount = len(runSizes)

// A geometry says how fingerprints of one width lie in runs.
type geometry struct {
	width    int             // of a fingerprint, in bytes
	mask     uint64          // its bits
	capacity [classCount]int // of a run of each class, in fingerprints
	most     int             // capacity of the largest
	classes  []uint8         // the class for each number of fingerprints
}

// geometries holds those of all widths, made when they are first needed.
var geometries = func() (all [9]func() *geometry) {
	for width := range all {
		all[width] = sync.OnceValue(func() *geometry { return newGeometry(width) })
	}
	return all
}()

// newGeometry leaves room behind the last fingerprint, so that each can be read and
// written as 8 bytes.
func newGeometry(width int) *geometry {
	g := &geometry{width: width, mask: 1<<(8*width) - 1}
	spare := ownerBytes + 8 - width
	g.classes = []uint8{0}
	for c, size := range runSizes[1:] {
		g.capacity[c+1] = (size - spare) / width
		for len(g.classes) <= g.capacity[c+1] {
			g.classes = append(g.classes, uint8(c+1))
		}
	}
	g.most = len(g.classes) - 1
	return g
}

// perPage returns how many runs of a class a page holds.
func perPage(class int) int { return pageBytes / runSizes[class] }
