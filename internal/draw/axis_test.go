package draw

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func labels(ticks []plot.Tick) string {
	var out []string
	for _, tick := range ticks {
		if tick.Label != "" {
			out = append(out, tick.Label)
		}
	}
	return strings.Join(out, ", ")
}

func TestTicksAreRoundAndReadable(t *testing.T) {
	for _, c := range []struct {
		axis Axis
		s    span
		want string
	}{
		{Axis{}, span{0, 1}, "0, 0.2, 0.4, 0.6, 0.8, 1.0"},
		{Axis{}, span{-0.1, 14.3}, "0, 2, 4, 6, 8, 10, 12, 14"},
		{Axis{}, span{0, 21000}, "0, 5000, 10 k, 15 k, 20 k"},
		{Axis{}, span{0, 4.2e6}, "0, 1 M, 2 M, 3 M, 4 M"},
		{Axis{Percent: true}, span{0.76, 1}, "80 %, 85 %, 90 %, 95 %, 100 %"},
		{Axis{Percent: true}, span{0, 0.005}, "0 %, 0.1 %, 0.2 %, 0.3 %, 0.4 %, 0.5 %"},
		{Axis{Log: true}, span{900, 1.2e6}, "1000, 10 k, 100 k, 1 M"},
		{Axis{Log: true}, span{0.9, 60}, "1, 2, 5, 10, 20, 50"},
		{Axis{Log: true, Percent: true}, span{0.0008, 1.2}, "0.1 %, 1 %, 10 %, 100 %"},
		{Axis{Log: true}, span{0.0008, 0.003}, "0.001, 0.002"},
		{Axis{Log: true}, span{1e-12, 1}, "1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1"},
		{Axis{Names: []string{"a", "b", "c"}}, span{-0.5, 1.5}, "a, b"},
		{Axis{Log: true}, span{0, 1}, ""},
		{Axis{}, span{1, 1}, ""},
		{Axis{}, span{0, math.Inf(1)}, ""},
	} {
		var axis plot.Axis
		setAxis(&axis, c.axis, c.s)
		if got := labels(axis.Tick.Marker.Ticks(c.s.low, c.s.high)); got != c.want {
			t.Errorf("%+v, %v:\ngot  %s\nwant %s", c.axis, c.s, got, c.want)
		}
	}
}

func TestNamesAreApartAndInside(t *testing.T) {
	for _, heights := range [][]vg.Length{
		{100, 100, 100},
		{300, 150, 149, 148, 10, 9},
		{5, 4, 3, 2, 1},
		{400, 390},
	} {
		spread(heights, 0, 200)
		for i, h := range heights {
			if h < nameHeight/2 || h > 200-nameHeight/2 {
				t.Errorf("%v: %v is outside", heights, h)
			}
			if i > 0 && heights[i-1]-h < nameHeight {
				t.Errorf("%v: %v and %v overlap", heights, heights[i-1], h)
			}
		}
	}
}

func TestLongWordsAreWrappedOrShortened(t *testing.T) {
	style := textStyle(labelSize)
	const words = "as many words as no picture has room for beside its axes, which is a pity"
	for _, room := range []vg.Length{80, 150, 400} {
		lines := wrap(style, words, room)
		for _, line := range lines {
			if style.Width(line) > room {
				t.Errorf("%v: %q is too long", room, line)
			}
		}
		if strings.Join(lines, " ") != words {
			t.Errorf("%v: words are lost: %q", room, lines)
		}
		short := shorten(style, words, room)
		if style.Width(short) > room || short != words && !strings.HasSuffix(short, "…") {
			t.Errorf("%v: %q", room, short)
		}
	}
	if wrap(style, "", 50) != nil || shorten(style, "a", 50) != "a" {
		t.Error("little is made something else")
	}
}

func TestRangesShowEverything(t *testing.T) {
	for _, c := range []struct {
		name string
		plot Plot
		want span // of y, at least
	}{
		{"zero is near", Plot{Series: []Series{{Points: []Point{{Y: 2}, {Y: 10}}}}}, span{0, 10}},
		{"zero is far", Plot{Series: []Series{{Points: []Point{{Y: 9}, {Y: 10}}}}}, span{9, 10}},
		{"interval", Plot{Series: []Series{{Points: []Point{{Y: 9, Lo: -1, Hi: 12}}}}}, span{-1, 12}},
		{"constant", Plot{Series: []Series{{Points: []Point{{Y: 0}}}}}, span{0, 0}},
		{"log", Plot{Y: Axis{Log: true}, Series: []Series{{Points: []Point{{Y: 0.5, Lo: 0, Hi: 0.6}}}}}, span{0.5, 0.6}},
	} {
		got := yRange(c.plot)
		if got.low > c.want.low || got.high < c.want.high || !(got.low < got.high) {
			t.Errorf("%s: %v does not show %v", c.name, got, c.want)
		}
		if c.plot.Y.Log && got.low <= 0 {
			t.Errorf("%s: %v on a logarithmic axis", c.name, got)
		}
	}
}
