package draw

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// span is a range of values, empty until something is added.
type span struct{ low, high float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

// xRange is what the points need, with room for markers.
func xRange(p Plot) span {
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
func yRange(p Plot) span {
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
func setAxis(axis *plot.Axis, want Axis, s span) {
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

// names are ticks with words, at 0, 1, 2 ...
type names []string

// Ticks implements plot.Ticker.
func (n names) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for i, name := range n {
		if x := float64(i); low <= x && x <= high {
			ticks = append(ticks, plot.Tick{Value: x, Label: name})
		}
	}
	return ticks
}

// linearTicks are at multiples of a round number; the function writes them, given
// the distance between them.
type linearTicks func(v, step float64) string

// fewest is how many intervals a linear axis has at least.
const fewest = 4

// Ticks implements plot.Ticker.
func (label linearTicks) Ticks(low, high float64) []plot.Tick {
	if !(high > low) || math.IsInf(high-low, 0) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/fewest)))
	for _, factor := range []float64{5, 2} {
		if (high-low)/(step*factor) >= fewest {
			step *= factor
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i <= high/step+1e-9; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i*step, step)})
	}
	return ticks
}

// logTicks are labelled at powers of ten, and at their double and fivefold where
// there are few powers.
type logTicks func(v, step float64) string

// mostPowers bounds the labels of a logarithmic axis: with more powers some go
// without.
const mostPowers = 7

// Ticks implements plot.Ticker.
func (label logTicks) Ticks(low, high float64) []plot.Tick {
	if !(low > 0 && high > low) || math.IsInf(high, 0) {
		return nil
	}
	decades := math.Log10(high / low)
	every := 1 + int(decades)/mostPowers
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for m := 1.0; m < 10; m++ {
			// Parsed, not computed: no power of ten is off by a bit.
			v, _ := strconv.ParseFloat(strconv.Itoa(int(m))+"e"+strconv.Itoa(e), 64)
			switch {
			case v < low*(1-1e-9) || v > high*(1+1e-9):
			case m == 1 && e%every == 0, decades < 2.2 && (m == 2 || m == 5):
				ticks = append(ticks, plot.Tick{Value: v, Label: label(v, v)})
			case every == 1 || m == 1:
				ticks = append(ticks, plot.Tick{Value: v})
			}
		}
	}
	return ticks
}

// labelFor chooses how the numbers of an axis are written.
func labelFor(a Axis, s span) func(v, step float64) string {
	switch {
	case a.Percent && (!a.Log || s.low >= 1e-7):
		return func(v, step float64) string { return short(100*v, 100*step) + " %" }
	case a.Log && s.low < 1e-4:
		return func(v, _ float64) string { // 1e-8 and 1, as in tables
			return strings.NewReplacer("e+00", "", "e-0", "e-", "e+0", "e+").Replace(strconv.FormatFloat(v, 'e', 0, 64))
		}
	}
	return short
}

// short writes a number with as many places as steps of that size need, and
// thousands and more with a letter.
func short(v, step float64) string {
	units := []string{"", " k", " M", " G", " T", " P"}
	i := 0
	// Four digits are readable without a letter.
	for ; math.Abs(v) >= 1e4 && i < len(units)-1 || i > 0 && math.Abs(v) >= 1e3 && i < len(units)-1; i++ {
		v, step = v/1000, step/1000
	}
	places := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if math.Abs(v) < step/1e6 {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', places, 64) + units[i]
}
