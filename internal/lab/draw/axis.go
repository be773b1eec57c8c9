package draw

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// span is a range of values, empty until something is added.
type span struct{ low, high float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

// xRange is what the points need, with room for markers.
func xRange(p lab.Plot) span {
	s := newSpan()
	for _, series := range p.Series {
		for _, pt := range series.Points {
			s.add(pt.X)
		}
	}
	for i := range p.X.Names {
		s.add(float64(i))
	}
	switch {
	case len(p.X.Names) > 0:
		return span{s.low - 0.5, s.high + 0.5}
	case p.X.Log:
		return s.widenLog(1.08)
	}
	return s.widen(0.02)
}

// yRange includes the intervals of the points, as far as a logarithmic axis can
// show them, and zero if it is near.
func yRange(p lab.Plot) span {
	s := newSpan()
	for _, series := range p.Series {
		for _, pt := range series.Points {
			s.add(pt.Y)
			if pt.HasInterval() {
				s.add(pt.Hi)
			}
			if pt.HasInterval() && (!p.Y.Log || pt.Lo > pt.Y/10) {
				s.add(pt.Lo)
			}
		}
	}
	if p.Y.Log {
		return s.widenLog(1.25)
	}
	if s.low > 0 && s.low < s.high/2 {
		s.add(0)
	}
	wide := s.widen(0.05)
	if s.low == 0 {
		wide.low = 0
	}
	return wide
}

// widen adds a share of the range at both ends.
func (s span) widen(share float64) span {
	room := share * (s.high - s.low)
	if room == 0 {
		room = max(0.1*math.Abs(s.low), 1e-12)
	}
	return span{s.low - room, s.high + room}
}

// widenLog multiplies the ends, and makes a narrow range a factor of five wide, so
// that it has labels and a flat curve looks flat.
func (s span) widenLog(factor float64) span {
	if narrow := math.Sqrt(5 * s.low / s.high); narrow > 1 {
		factor *= narrow
	}
	return span{s.low / factor, s.high * factor}
}

// setAxis puts scale, range and ticks into effect.
func setAxis(axis *plot.Axis, want lab.Axis, s span) {
	if want.Min != 0 || want.Max != 0 {
		s = span{want.Min, want.Max}
	}
	axis.Min, axis.Max = s.low, s.high
	label := labelFor(want, s)
	switch {
	case len(want.Names) > 0:
		axis.Tick.Marker = names(want.Names)
		axis.Tick.Length = 0
	case want.Log:
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = logTicks(label)
	default:
		axis.Tick.Marker = linearTicks(label)
	}
}

// turnLabels slants names that do not fit side by side.
func turnLabels(axis *plot.Axis, room vg.Length) {
	list, ok := axis.Tick.Marker.(names)
	if !ok {
		return
	}
	shown := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == "" })
	for _, name := range shown {
		if axis.Tick.Label.Width(name)+gap > room/vg.Length(len(shown)+1) {
			axis.Tick.Label.Rotation = math.Pi / 7
			axis.Tick.Label.XAlign = text.XRight
			axis.Tick.Label.YAlign = text.YTop
			return
		}
	}
}
