package draw

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/everbloom-go/everbloom/internal/lab"
)

const (
	sampleWidth = 18
	nameHeight  = 14
	nameWidth   = 190 // at most; the plot needs room, too
)

// namesWidth is the room that the names of the series take, 0 if there are none.
func namesWidth(curves []curve) vg.Length {
	if len(curves) < 2 {
		return 0
	}
	var widest vg.Length
	for _, c := range curves {
		widest = max(widest, textStyle(labelSize).Width(c.Name))
	}
	return gap + sampleWidth + gap + min(widest, nameWidth) + gap
}

// drawNames writes each name at the height at which its series ends; those that
// would overlap move apart. A series without a name, such as the formula beside its
// measurement in the same colour, is known by another.
func drawNames(c, data draw.Canvas, p *plot.Plot, curves []curve) {
	curves = slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return c.Name == "" })
	_, y := p.Transforms(&data)
	order := make([]int, len(curves))
	ends := make([]vg.Length, len(curves))
	for i, curve := range curves {
		order[i] = i
		last := slices.MaxFunc(curve.Points, func(a, b lab.Point) int { return cmp.Compare(a.X, b.X) })
		ends[i] = y(bounded(p.Y, last.Y))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[b], ends[a]) })
	heights := make([]vg.Length, len(order))
	for i, o := range order {
		heights[i] = ends[o]
	}
	spread(heights, data.Min.Y, data.Max.Y)
	for i, o := range order {
		drawName(c, curves[o], heights[i])
	}
}

// spread moves heights, which fall, apart until none is closer than a line to the
// next, and into the given range as far as that is possible.
func spread(heights []vg.Length, low, high vg.Length) {
	floor := func(i int) vg.Length { return low + nameHeight*vg.Length(len(heights)-1-i) + nameHeight/2 }
	next := high - nameHeight/2
	for i := range heights {
		// Not so low that those below find no room.
		heights[i] = min(max(heights[i], floor(i)), next)
		next = heights[i] - nameHeight
	}
}

// drawName draws a sample of the series and its name.
func drawName(c draw.Canvas, curve curve, at vg.Length) {
	left, right := c.Min.X, c.Min.X+sampleWidth
	if !curve.has(lab.Dots, lab.Printed) {
		c.StrokeLine2(curve.lineStyle(), left, at, right, at)
	}
	if curve.has(lab.Dots, lab.LinePoints, lab.Printed) {
		c.DrawGlyphNoClip(curve.glyphStyle(), vg.Point{X: (left + right) / 2, Y: at})
	}
	style := textStyle(labelSize)
	style.YAlign = draw.YCenter
	c.FillText(style, vg.Point{X: right + gap, Y: at}, shorten(style, curve.Name, nameWidth))
}
