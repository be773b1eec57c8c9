package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// The picture, in pixels: two panels, one above the other, over the same stops.
const (
	pictureWidth, pictureHeight = 800, 620

	left, right = 64, 625 // of the panels; names of lines that come back stand beside them
	middle      = (left + right) / 2
	nameHeight  = 15
)

// hues are those of Okabe and Ito, which all eyes can tell apart, in the order of travellers.
var hues = []string{"#008A65", "#0072B2", "#D55E00", "#C2699A", "#8A4A7A", "#B07800", "#555555"}

// A panel shows one figure of all stops, on a logarithmic scale.
type panel struct {
	title       string
	top, bottom float64
	low, high   float64 // ends of the scale
	value       func(stop) float64
	tick        func(float64) string
	up          []uint64
}

// A point is a place in the picture.
type point struct{ x, y float64 }

// at returns the place of a stop. Its x is the logarithm of the keys, which runs on when they
// become fewer.
func (p *panel) at(s stop) point {
	first, last := float64(p.up[0]), float64(p.up[len(p.up)-1])
	share := math.Log(float64(s.keys)/first) / math.Log(last/first)
	if s.back {
		share = 2 - share
	}
	return point{left + share*(right-left)/2, p.y(p.value(s))}
}

func (p *panel) y(v float64) float64 {
	share := math.Log(max(v, p.low)/p.low) / math.Log(p.high/p.low)
	return p.bottom - share*(p.bottom-p.top)
}

// drawJourneys writes the picture. Figures of exact sets are in the upper panel only.
func drawJourneys(w *printer, up []uint64, asked float64, all []journey) {
	first, last := quantity.Round(float64(up[0])), quantity.Round(float64(up[len(up)-1]))
	w.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, 'Segoe UI', 'Liberation Sans', sans-serif" font-size="13" fill="#333">
<title>Memory per key and false-positive rate of sets that grow from %s to %s keys and shrink again</title>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="8" fill="#fff" stroke="#d0d7de"/>
<text x="20" y="32" font-size="17" font-weight="600" fill="#111">A set grows from %s to %s keys and shrinks again</text>
`, pictureWidth, pictureHeight, first, last, pictureWidth-1, pictureHeight-1, first, last)
	bits := panel{
		title: "memory, bits per key", top: 72, bottom: 316, low: 1, high: 1, up: up,
		value: func(s stop) float64 { return s.bits }, tick: quantity.Round,
	}
	for _, j := range all {
		for _, s := range j.stops {
			bits.low, bits.high = min(bits.low, s.bits), max(bits.high, 1.2*s.bits)
		}
	}
	bits.draw(w, all)
	rate := panel{
		title: "false-positive rate, measured", top: 360, bottom: 562, low: 3e-5, high: 1.1, up: up,
		value: func(s stop) float64 { return s.rate }, tick: quantity.Rate,
	}
	w.printf(`<path d="M%d %.1fH%d" stroke="#111" stroke-dasharray="5 4"/><text x="%d" y="%.1f">asked: %s</text>`+"\n",
		left, rate.y(asked), right, right+11, rate.y(asked)+4, quantity.Rate(asked))
	w.printf(`<text x="%d" y="%.1f" text-anchor="end" font-size="12">less</text>`+"\n", left-7, rate.bottom+4)
	rate.draw(w, all)
	rate.labelStops(w)
	w.println("</svg>")
}

// draw writes the scale, a line for each journey, and its name where it ends.
func (p *panel) draw(w *printer, all []journey) {
	w.printf(`<text x="20" y="%.0f" font-weight="600">%s</text>`+"\n", p.top-12, p.title)
	for v := math.Pow(10, math.Ceil(math.Log10(p.low))); v <= p.high; v *= 10 {
		w.printf(`<path d="M%d %.1fH%d" stroke="#e6e6e6"/><text x="%d" y="%.1f" text-anchor="end" font-size="12">%s</text>`+"\n",
			left, p.y(v), right, left-7, p.y(v)+4, p.tick(v))
	}
	w.printf(`<path d="M%d %.0fV%.0f" stroke="#ccc"/>`+"\n", middle, p.top, p.bottom)
	lines := make([][]point, len(all))
	for i, j := range slices.Backward(all) { // the first one on top
		exact := true
		for _, s := range j.stops {
			lines[i] = append(lines[i], p.at(s))
			exact = exact && p.value(s) == 0
		}
		if exact {
			lines[i] = nil
			continue
		}
		w.printf(`<path class="line" fill="none" stroke="%s" stroke-width="%.1f" stroke-linejoin="round" d="%s"/>`+"\n", hues[i], 2+2/float64(1+3*i), pathOf(lines[i]))
	}
	var taken []point
	for i, j := range all {
		if lines[i] == nil {
			continue
		}
		end, text := lines[i][len(lines[i])-1], j.label
		if j.end != "" {
			text += ": " + j.end
			w.printf(`<path class="end" d="M%.1f %.1fl10 10m0 -10l-10 10" stroke="%s" stroke-width="2.5"/>`+"\n", end.x-5, end.y-5, hues[i])
		}
		spot := p.freeSpot(point{end.x + 11, end.y}, len(text), lines, taken)
		taken = append(taken, spot)
		w.printf(`<text x="%.1f" y="%.1f" fill="%s" stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke">%s</text>`+"\n",
			spot.x, spot.y+4, hues[i], text)
	}
}

func pathOf(line []point) (path string) {
	for i, p := range line {
		path += fmt.Sprintf("%c%.1f %.1f", "ML"[min(1, i)], p.x, p.y)
	}
	return path
}

// freeSpot returns where a name of so many letters crosses fewest lines and other names, at
// the height of the end or not far from it.
func (p *panel) freeSpot(end point, letters int, lines [][]point, taken []point) point {
	best, least := end, math.Inf(1)
	for _, dy := range []float64{0, nameHeight, -nameHeight, 1.7 * nameHeight, -1.7 * nameHeight} {
		spot := point{end.x, end.y + dy}
		cost := math.Abs(dy) / nameHeight
		for _, line := range lines {
			cost += crossed(line, spot, 6.5*float64(letters))
		}
		if dy > 0 && spot.y > p.bottom {
			cost += 20
		}
		for _, t := range taken {
			if math.Abs(t.x-spot.x) < 100 && math.Abs(t.y-spot.y) < nameHeight {
				cost += 20
			}
		}
		if cost < least {
			best, least = spot, cost
		}
	}
	return best
}

// crossed counts steps of ten pixels on which a line runs through a text.
func crossed(line []point, text point, width float64) (count float64) {
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		for x := max(a.x, text.x); x < min(b.x, text.x+width); x += 10 {
			if y := a.y + (b.y-a.y)*(x-a.x)/(b.x-a.x); math.Abs(y-text.y) < nameHeight*0.6 {
				count++
			}
		}
	}
	return count
}

// labelStops writes the numbers of keys below the panel, those of whole factors of ten and
// the last.
func (p *panel) labelStops(w *printer) {
	label := func(x float64, row int, text string) {
		w.printf(`<text x="%.1f" y="%.0f" text-anchor="middle" font-size="12">%s</text>`+"\n", x, p.bottom+float64(18*row), text)
	}
	for i, n := range p.up[:len(p.up)-1] {
		if i%4 == 0 {
			label(p.at(stop{keys: n}).x, 1, quantity.Round(float64(n)))
			label(p.at(stop{keys: n, back: true}).x, 1, quantity.Round(float64(n)))
		}
	}
	label(middle, 1, quantity.Round(float64(p.up[len(p.up)-1])))
	label((left+middle)/2, 2, "grows →")
	label(middle, 2, "keys in the set")
	label((middle+right)/2, 2, "shrinks →")
}
