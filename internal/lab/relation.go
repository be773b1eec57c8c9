package lab

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// relation is how two numbers must be to each other, noise allowed for.
type relation struct {
	word, how string  // "not above", and the tolerance
	sign      float64 // of a difference that is bad; 0: both
	clear     bool    // it holds only if the difference is clear
	mostly    bool    // more than half of the points will do
}

const (
	allowed   = "by more than 4 standard errors of the difference" // Sigmas
	noisyText = "; too few trials to tell"
)

// AtMost holds if no number is clearly above the other.
func AtMost(other Pick) Test {
	return relation{"not above", "nowhere above " + allowed, 1, false, false}.test(other)
}

// AtLeast holds if no number is clearly below the other.
func AtLeast(other Pick) Test {
	return relation{"not below", "nowhere below " + allowed, -1, false, false}.test(other)
}

// Below holds if every number is clearly below the other.
func Below(other Pick) Test {
	return relation{"below", "below everywhere " + allowed, 1, true, false}.test(other)
}

// Above holds if every number is clearly above the other.
func Above(other Pick) Test {
	return relation{"above", "above everywhere " + allowed, -1, true, false}.test(other)
}

// MostlyBelow holds if more than half of the numbers are clearly below the other.
func MostlyBelow(other Pick) Test {
	return relation{"below", "below " + allowed + ", at more than half of the points", 1, true, true}.test(other)
}

// Matches holds if every number is the other but for noise, such as a formula.
func Matches(other Pick) Test {
	return relation{"equal to", "nowhere apart " + allowed, 0, false, false}.test(other)
}

// bad is how much of a difference is not as it must be.
func (r relation) bad(diff float64) float64 {
	if r.sign == 0 {
		return math.Abs(diff)
	}
	return r.sign * diff
}

// holds is told how large the difference may be by chance.
func (r relation) holds(diff, reach float64) bool {
	if r.clear {
		return r.bad(diff) < -reach
	}
	return r.bad(diff) <= reach
}

// tells reports whether a comparison of so noisy numbers can fail: not if they may
// differ by half of the larger one without a verdict. Times of one run may be too
// noisy to tell which is shorter.
func (r relation) tells(a, b Cell, diff, reach float64) bool {
	if r.clear {
		return a.samples == nil || math.Abs(diff) > reach
	}
	return !r.holds(diff, reach) || reach <= max(math.Abs(a.Value.Mean), math.Abs(b.Value.Mean))/2 || r.holds(diff+reach, 0) && r.holds(diff-reach, 0)
}

// score counts the points of a claim.
type score struct {
	judged, held, silent int
	worst, against       Cell
	worstBy              float64
}

// add judges one point.
func (s *score) add(r relation, a, b Cell) {
	diff, reach := a.Value.Mean-b.Value.Mean, Spread(a.expecting(b.Value.Mean), b.Value)+1e-12*math.Abs(b.Value.Mean)
	if !r.tells(a, b, diff, reach) {
		s.silent++
		return
	}
	if by := r.bad(diff) - reach; s.judged == 0 || by > s.worstBy {
		s.worst, s.against, s.worstBy = a, b, by
	}
	s.judged++
	if r.holds(diff, reach) {
		s.held++
	}
}

// test judges every point of the pick.
func (r relation) test(other Pick) Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		if err != nil {
			return judgement{}, err
		}
		var s score
		for _, a := range cells {
			b, err := f.at(other, a.At)
			if err != nil {
				return judgement{}, err
			}
			s.add(r, a, b)
		}
		if s.judged == 0 {
			return judgement{Shown, several(cells, c.Of.fixed) + noisyText, r.how}, nil
		}
		j := judgement{verdict(s.held == s.judged || r.mostly && 2*s.held > s.judged), s.text(r.word, c.Of, other), r.how}
		if j.verdict == Reproduced && s.judged < s.silent { // few points decide nothing for the others
			j.verdict = Shown
		}
		return j, nil
	}
}

// text tells the number at the only point, or how many points there are and the worst.
func (s score) text(word string, of, other Pick) string {
	against, b := "", s.against
	if b.Unit == Plain && b.Value.N == 0 {
		b.Unit = s.worst.Unit
	}
	switch {
	case other.metric != "":
		against = fmt.Sprintf(" against %s (%s)", b, other)
	case b.Value.Mean != 0:
		against = fmt.Sprintf(" against %s", b)
	}
	if s.judged+s.silent == 1 {
		return s.worst.String() + against
	}
	text := fmt.Sprintf("%s%s at worst (%s); %s at %d of %d points", s.worst, against, s.worst.At.free(of.fixed), word, s.held, s.judged)
	if s.silent > 0 {
		text += fmt.Sprintf("; at %d more there are too few trials to tell", s.silent)
	}
	return text
}

// Inside holds if all numbers are between two, which are printed with their digits:
// Inside("10.1", "13.5").
func Inside(least, most string) Test {
	return func(f findings, c Claim) (judgement, error) {
		from, err1 := parsePrinted(least)
		to, err2 := parsePrinted(most)
		cells, err3 := f.cells(c.Of)
		if err := errors.Join(err1, err2, err3); err != nil {
			return judgement{}, err
		}
		byMean := func(a, b Cell) int { return cmp.Compare(a.Value.Mean, b.Value.Mean) }
		low, high := slices.MinFunc(cells, byMean), slices.MaxFunc(cells, byMean)
		ok := low.Value.Mean >= from.value-from.half && high.Value.Mean <= to.value+to.half
		return judgement{verdict(ok), fmt.Sprintf("%s to %s", low, high), fmt.Sprintf("%s to %s, by the digits printed, at all of %d points", least, most, len(cells))}, nil
	}
}

// Span is a part of a dimension, both ends included; To is 0 if there is no end.
type Span struct {
	Dim      string
	From, To float64
}

// In judges a part of a dimension only: In(Span{"n", 1000, 0}, Falls("k")). What is
// outside is not looked at, neither by the claim nor by what it is compared with.
func In(part Span, test Test) Test {
	return func(f findings, c Claim) (judgement, error) {
		inside, dim := make(findings, len(f)), Dim{}
		for i, g := range f {
			if d := indexOf(g.Dims, part.Dim); d >= 0 {
				dim = g.Dims[d]
			}
			cut := *g
			cut.cells = slices.DeleteFunc(slices.Clone(g.cells), func(c Cell) bool {
				_, v, ok := c.At.find(part.Dim)
				return ok && (v < part.From || part.To != 0 && v > part.To)
			})
			inside[i] = &cut
		}
		j, err := test(inside, c)
		j.tolerance += fmt.Sprintf("; %s from %s", part.Dim, dim.text(part.From))
		if part.To != 0 {
			j.tolerance += " to " + dim.text(part.To)
		}
		return j, err
	}
}

// Falls holds if the numbers nowhere rise clearly along the dimension, and are in most
// lines clearly lower at its end than at its beginning.
func Falls(dim string) Test { return moves(dim, -1, "falls") }

// Rises is the contrary of Falls.
func Rises(dim string) Test { return moves(dim, 1, "rises") }

// trend counts the steps of lines.
type trend struct {
	sign                      float64
	lines, steps, wrong, flat int
	against                   Cell
}

func (t *trend) add(line []Cell) {
	begin, end := line[0].Value, line[len(line)-1].Value
	t.lines++
	for j := 1; j < len(line); j++ {
		a, b := line[j-1].Value, line[j].Value
		t.steps++
		if t.sign*(b.Mean-a.Mean) < -Spread(a, b) {
			t.wrong, t.against = t.wrong+1, line[j]
		}
	}
	if t.sign*(end.Mean-begin.Mean) <= Spread(begin, end) {
		t.flat++
	}
}

func moves(dim string, sign float64, word string) Test {
	return func(f findings, c Claim) (judgement, error) {
		cells, err := f.cells(c.Of)
		if err != nil {
			return judgement{}, err
		}
		t, lines := trend{sign: sign}, linesAlong(cells, dim)
		for _, line := range lines {
			t.add(line)
		}
		if t.steps == 0 {
			return judgement{}, fmt.Errorf("%s has one value of %q", c.Of, dim)
		}
		at := func(cell Cell) string { return fmt.Sprintf("%s (%s)", cell, cell.At.free(c.Of.fixed)) }
		first := lines[0]
		ours := fmt.Sprintf("%s at %d of %d steps, such as from %s to %s", word, t.steps-t.wrong, t.steps, at(first[0]), at(first[len(first)-1]))
		if t.flat > 0 {
			ours += fmt.Sprintf("; in %d of %d lines the ends are not clearly apart", t.flat, t.lines)
		}
		if t.wrong > 0 {
			ours += "; not towards " + at(t.against)
		}
		j := judgement{verdict(t.wrong == 0 && 2*t.flat < t.lines), ours, "no step the other way " + allowed + ", and the ends of most lines clearly apart"}
		if t.wrong == 0 && j.verdict == Differs && first[0].samples != nil { // times of one run
			j.verdict, j.ours = Shown, ours+noisyText
		}
		return j, nil
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
