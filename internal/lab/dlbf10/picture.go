package dlbf10

import (
	"slices"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/filter/deletable"
	"github.com/everbloom-go/everbloom/internal/probe"
)

// picture is a filter seen cell by cell: which are set, and on which keys
// collided. It comes from a filter with regions of one bit, so that any other way
// to tell clean cells from collided ones can be tried on it.
type picture struct {
	set      []bool
	collided []bool
	places   [][]int // of each key, without repetitions
}

// takePicture adds the keys to a filter of so many cells.
func takePicture(cells, hashes int, salt uint64, keys []filter.Key) (picture, error) {
	s := deletable.Shape{Bits: 2 * uint64(cells), Hashes: hashes, Regions: uint64(cells), Salt: salt}
	f, err := filled(s, keys)
	if err != nil {
		return picture{}, err
	}
	raw := f.AppendRaw(nil)
	p := picture{set: make([]bool, cells), collided: make([]bool, cells), places: make([][]int, len(keys))}
	for i := range cells {
		p.collided[i] = bit(raw, i)
		p.set[i] = bit(raw, cells+i)
	}
	for i, k := range keys {
		p.places[i] = placesOf(k, s)
	}
	return p, nil
}

func bit(raw []byte, i int) bool { return raw[i/8]>>(i%8)&1 == 1 }

// placesOf returns the cells of a key as the filter derives them.
func placesOf(k filter.Key, s deletable.Shape) []int {
	h := probe.NewMixer(s.Salt).Mix(k)
	var places []int
	for range s.Hashes {
		place := int(probe.Reduce(h, s.Cells()))
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
		h = probe.Step(h)
	}
	return places
}

// gain is what a set of cells that are known to be clean is good for.
type gain struct {
	deletable float64 // share of the keys with a bit among them
	free      float64 // share of the set bits
}

// gainOf evaluates clean, which must not name a collided cell.
func (p picture) gainOf(clean []bool) (g gain) {
	for _, places := range p.places {
		for _, c := range places {
			if clean[c] {
				g.deletable++
				break
			}
		}
	}
	var set float64
	for i, on := range p.set {
		if !on {
			continue
		}
		set++
		if clean[i] {
			g.free++
		}
	}
	return gain{g.deletable / float64(max(1, len(p.places))), g.free / max(1, set)}
}

// byRegions marks regions: cell i belongs to region of(i), and cells of regions
// without a collision are clean. Cells for which of gives less than 0 are in none.
func (p picture) byRegions(regions int, of func(cell int) int) []bool {
	marked := make([]bool, regions)
	for i, c := range p.collided {
		if r := of(i); c && r >= 0 {
			marked[r] = true
		}
	}
	clean := make([]bool, len(p.set))
	for i := range clean {
		r := of(i)
		clean[i] = r >= 0 && !marked[r]
	}
	return clean
}

// inRow gives the regions of the paper: as many cells to each, one after the other.
func (p picture) inRow(regions int) func(cell int) int {
	size := (len(p.set) + regions - 1) / regions
	return func(cell int) int { return cell / size }
}

func count(list []bool) (n int) {
	for _, v := range list {
		if v {
			n++
		}
	}
	return n
}
