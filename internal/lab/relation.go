package lab

import (
	"fmt"
	"math"
)

// relation is how two numbers must be to each other, noise allowed for.
type relation struct {
	word string // "not above"
	how  string // the tolerance

	// holds is told the difference of the numbers and how large it may be by chance.
	holds func(diff, reach float64) bool
	worse func(diff float64) float64 // what the worst point has most of
	clear bool                       // it holds only if the difference is clear
}

var (
	allowed  = fmt.Sprintf("by more than %d standard errors of the difference", Sigmas)
	notAbove = relation{"not above", "nowhere above " + allowed, func(d, r float64) bool { return d <= r }, func(d float64) float64 { return d }, false}
	notBelow = relation{"not below", "nowhere below " + allowed, func(d, r float64) bool { return d >= -r }, func(d float64) float64 { return -d }, false}
	below    = relation{"below", "below everywhere " + allowed, func(d, r float64) bool { return d < -r }, func(d float64) float64 { return d }, true}
	above    = relation{"above", "above everywhere " + allowed, func(d, r float64) bool { return d > r }, func(d float64) float64 { return -d }, true}
	equal    = relation{"equal to", fmt.Sprintf("within %d standard errors of the difference", Sigmas), func(d, r float64) bool { return math.Abs(d) <= r }, math.Abs, false}
)

// AtMost holds if no number is clearly above the other.
func AtMost(other Pick) Test { return everywhere(notAbove, other) }

// AtLeast holds if no number is clearly below the other.
func AtLeast(other Pick) Test { return everywhere(notBelow, other) }

// Below holds if every number is clearly below the other.
func Below(other Pick) Test { return everywhere(below, other) }

// Above holds if every number is clearly above the other.
func Above(other Pick) Test { return everywhere(above, other) }

// Matches holds if every number is the other but for noise, such as a formula.
func Matches(other Pick) Test { return everywhere(equal, other) }

// MostlyBelow holds if more than half of the numbers are clearly below the other.
func MostlyBelow(other Pick) Test {
	mostly := below
	mostly.how = "below " + allowed + ", at more than half of the points"
	return relate(mostly, other, Span{}, 0.5)
}

// Span is a part of a dimension, both ends included.
type Span struct {
	Dim      string
	From, To float64
}

// BelowFrom holds if the numbers are clearly below the other in a part of a
// dimension: "faster from 2^16 on". What is outside is shown and not judged.
func BelowFrom(other Pick, part Span) Test { return relate(below, other, part, 1) }

func everywhere(r relation, other Pick) Test { return relate(r, other, Span{}, 1) }

// within reports whether a point is in the part, all points if it has no name.
func (s Span) within(at At) bool {
	_, v, ok := at.find(s.Dim)
	return s.Dim == "" || ok && v >= s.From && (s.To == 0 || v <= s.To)
}

// tells reports whether a comparison of so noisy numbers can fail: not if they may
// differ by half of the larger one without a verdict.
func (r relation) tells(a, b Estimate, diff, reach float64) bool {
	return r.clear || !r.holds(diff, reach) || reach <= max(math.Abs(a.Mean), math.Abs(b.Mean))/2 || r.holds(diff+reach, 0) && r.holds(diff-reach, 0)
}

// relate judges every point of the pick, of which a share must hold.
func relate(r relation, other Pick, part Span, share float64) Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		if err != nil {
			return judgement{}, err
		}
		var judged, held, silent int
		var worst, worstOther Cell
		worstBy := math.Inf(-1)
		for _, a := range cells {
			if !part.within(a.At) {
				continue
			}
			b, err := f.at(other, a.At)
			if err != nil {
				return judgement{}, err
			}
			expected := a.expecting(b.Value.Mean)
			diff, reach := a.Value.Mean-b.Value.Mean, Spread(expected, b.Value)+1e-12*math.Abs(b.Value.Mean)
			if !r.tells(a.Value, b.Value, diff, reach) {
				silent++
				continue
			}
			judged++
			if r.holds(diff, reach) {
				held++
			}
			if by := r.worse(diff) - reach; by > worstBy {
				worst, worstOther, worstBy = a, b, by
			}
		}
		if judged == 0 {
			return judgement{Shown, several(cells, c.Of.fixed) + "; too few trials to tell", r.how}, nil
		}
		ok := held == judged
		if share < 1 {
			ok = float64(held) > share*float64(judged)
		}
		return judgement{verdict(ok), r.text(c.Of, other, worst, worstOther, held, judged, silent), r.how}, nil
	}
}

// text tells the number at the only point, or how many points there are and the worst.
func (r relation) text(of, other Pick, a, b Cell, held, judged, silent int) string {
	against := ""
	if b.Unit == Plain && b.Value.N == 0 {
		b.Unit = a.Unit
	}
	if other.metric != "" || b.Value.Mean != 0 {
		against = fmt.Sprintf(" against %s", b)
		if other.metric != "" {
			against += " (" + other.String() + ")"
		}
	}
	if judged+silent == 1 {
		return a.String() + against
	}
	text := fmt.Sprintf("%s at %d of %d points; the worst is %s: %s%s", r.word, held, judged, a.At.free(of.fixed), a, against)
	if silent > 0 {
		text += fmt.Sprintf("; at %d more there are too few trials to tell", silent)
	}
	return text
}

// Falls holds if the numbers nowhere rise clearly along the dimension, and are in most
// lines clearly lower at its end than at its beginning.
func Falls(dim string) Test { return moves(dim, -1, "falls") }

// Rises is the contrary of Falls.
func Rises(dim string) Test { return moves(dim, 1, "rises") }

func moves(dim string, sign float64, word string) Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		if err != nil {
			return judgement{}, err
		}
		wrong, steps, lines, flat := 0, 0, 0, 0
		var first, last, at Cell
		for i, line := range linesAlong(cells, dim) {
			lines++
			for j := 1; j < len(line); j++ {
				a, b := line[j-1].Value, line[j].Value
				steps++
				if sign*(b.Mean-a.Mean) < -Spread(a, b) {
					wrong, at = wrong+1, line[j]
				}
			}
			begin, end := line[0], line[len(line)-1]
			if i == 0 {
				first, last = begin, end
			}
			if sign*(end.Value.Mean-begin.Value.Mean) <= Spread(begin.Value, end.Value) {
				flat++
			}
		}
		if steps == 0 {
			return judgement{}, fmt.Errorf("%s has one value of %q", c.Of, dim)
		}
		ours := fmt.Sprintf("%s at %d of %d steps, such as from %s (%s) to %s (%s)", word, steps-wrong, steps, first, first.At.free(c.Of.fixed), last, last.At.free(c.Of.fixed))
		if flat > 0 {
			ours += fmt.Sprintf("; at %d of %d lines the ends are not clearly apart", flat, lines)
		}
		if wrong > 0 {
			ours += fmt.Sprintf("; not towards %s: %s", at.At.free(c.Of.fixed), at)
		}
		return judgement{verdict(wrong == 0 && 2*flat < lines), ours, fmt.Sprintf("no step the other way by more than %d standard errors of the difference, and the ends of most lines clearly apart", Sigmas)}, nil
	}
}

// linesAlong groups cells that differ in one dimension only, in order of that.
func linesAlong(cells []Cell, dim string) (lines [][]Cell) {
	byRest := map[string]int{}
	for _, c := range cells {
		rest := c.At.with(dim, 0).String()
		i, ok := byRest[rest]
		if !ok {
			i = len(lines)
			byRest[rest] = i
			lines = append(lines, nil)
		}
		lines[i] = append(lines[i], c)
	}
	return lines
}
