package main

import (
	"fmt"
	"slices"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/draw"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// leastRate is the lowest that the picture shows; what is below stands there, too.
const leastRate = 3e-5

// drawJourneys returns the picture: two panels, one above the other, over the stops of
// the way up and down again.
func drawJourneys(up []uint64, asked float64, all []journey) ([]byte, error) {
	title := fmt.Sprintf("A set grows from %s to %s keys and shrinks again", quantity.Round(float64(up[0])), quantity.Round(float64(up[len(up)-1])))
	x := lab.Axis{Label: "keys in the set: growing, then shrinking"}
	for i := range 2*len(up) - 1 {
		name := ""
		if at := min(i, 2*(len(up)-1)-i); at%4 == 0 || at == len(up)-1 {
			name = quantity.Round(float64(up[at]))
		}
		x.Names = append(x.Names, name)
	}
	bits := lab.Plot{Title: title, X: x, Y: lab.Axis{Label: "memory, bits per key", Log: true}}
	rates := lab.Plot{X: x, Y: lab.Axis{Label: "false-positive rate, measured", Log: true, Percent: true, Min: leastRate, Max: 1.1}}
	for i, j := range all {
		bits.Series = append(bits.Series, j.series(i, up, func(s stop) float64 { return s.bits }))
		if slices.ContainsFunc(j.stops, func(s stop) bool { return s.rate > 0 }) { // not exact
			rates.Series = append(rates.Series, j.series(i, up, func(s stop) float64 { return max(s.rate, leastRate) }))
		}
	}
	line := lab.Series{Name: "asked: " + quantity.Rate(asked), Style: lab.Dashed, Color: 7, Points: []lab.Point{{Y: asked}, {X: float64(len(x.Names) - 1), Y: asked}}}
	rates.Series = append(rates.Series, line)
	return draw.PanelsSVG(title, 1, bits, rates)
}

// series is a line with the name of the i-th journey, and why it ended.
func (j *journey) series(i int, up []uint64, value func(stop) float64) lab.Series {
	s := lab.Series{Name: j.label, Color: i + 1}
	if j.end != "" {
		s.Name += ": " + j.end
	}
	for _, at := range j.stops {
		x, _ := slices.BinarySearch(up, at.keys)
		if at.back {
			x = 2*(len(up)-1) - x
		}
		s.Points = append(s.Points, lab.Point{X: float64(x), Y: value(at)})
	}
	return s
}
