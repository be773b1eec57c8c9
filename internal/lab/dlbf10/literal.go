package dlbf10

import (
	"math"

	"github.com/everbloom-go/everbloom/filter/deletable"
)

// literalDeletable is the exact probability that a key can be deleted if positions
// are perfectly random and Insert is carried out bit by bit, as Sec. III has it: a
// position that a key has twice is a collision. All regions must have s cells.
//
// By inclusion and exclusion over sets of j regions that are all clean and that all
// hold a position of the key, where N = k(n-1) positions are those of other keys:
//
//	p_d = sum over j >= 1 of (-1)^(j+1) C(r,j) sum over a of D(j,a) a! C(k,a) m'^-a (1-js/m')^(k-a)
//	      sum over b of C(js-a,b) N!/(N-b)! m'^-b (1-js/m')^(N-b)
//	D(j,a) = sum over i of (-1)^(j-i) C(j,i) C(si,a)
//
// D(j,a) a! counts the ways to throw a positions into different cells of the j
// regions so that none of these is left out.
func literalDeletable(s deletable.Shape, n int) float64 {
	cells, size, k := float64(s.Cells()), int(s.RegionBits()), s.Hashes
	others := k * (n - 1)
	total := 0.0
	for j := 1; j <= min(k, int(s.Regions)); j++ {
		outside := 1 - float64(j*size)/cells
		for a := j; a <= k; a++ {
			ways := 0.0
			for i := range j + 1 {
				ways += sign(j-i) * binomial(j, i) * binomial(size*i, a)
			}
			own := ways * falling(k, a) / math.Pow(cells, float64(a)) * math.Pow(outside, float64(k-a))
			total -= sign(j) * binomial(int(s.Regions), j) * own * differentCells(j*size-a, others, cells, outside)
		}
	}
	return total
}

// differentCells is the probability that of so many positions all that fall into
// free cells fall into different ones, and the others outside.
func differentCells(free, positions int, cells, outside float64) (p float64) {
	for b := range min(free, positions) + 1 {
		p += binomial(free, b) * falling(positions, b) / math.Pow(cells, float64(b)) * math.Pow(outside, float64(positions-b))
	}
	return p
}

func sign(i int) float64 { return 1 - 2*float64(i&1) }

// falling is n (n-1) ... (n-k+1).
func falling(n, k int) float64 {
	product := 1.0
	for i := range k {
		product *= float64(n - i)
	}
	return product
}

func binomial(n, k int) float64 { return falling(n, k) / falling(k, k) }
