package deletable_test

import (
	"strings"

	"github.com/everbloom-go/everbloom/filter/deletable"
)

// draw shows a raw form as Fig. 1 of [DlBF10] does: the bitmap of the regions,
// then region by region.
func draw(s deletable.Shape, raw []byte) string {
	var b strings.Builder
	for i := range s.Bits {
		if i >= s.Regions && (i-s.Regions)%s.RegionBits() == 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('0' + raw[i/8]>>(i%8)&1)
	}
	return b.String()
}
