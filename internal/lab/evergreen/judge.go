package evergreen

import (
	"fmt"
	"math"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/theory"
)

// percent writes a rate as people ask for it.
func percent(rate float64) string { return fmt.Sprintf("%.4g %%", 100*rate) }

// smallest is how many blocks a filter has at least that is no list. Then it has room
// to spare, and its rate says nothing.
const smallest = 257

// held is by how much the rate may pass the asked one because the 64 stripes keep
// part of what they know to themselves (filter/evergreen/control.go). No document
// says so: a rate that is above by less is a known difference, no agreement.
const held = 1.0 / 128

const heldBack = "Each of the 64 stripes keeps up to an 8192th of the asked rate to itself before the filter hears of it, so the filter grows up to a 128th late."

// kept checks that no look found a rate above the asked one, by more than the
// spread of counting so few yeses.
func kept(name, promise string, asked float64, looks []look) lab.Check {
	worst, grown, yes, questions := looks[0], 0, 0, 0
	for _, l := range looks {
		if l.yes*worst.asked > worst.yes*l.asked {
			worst = l
		}
		if l.blocks > smallest {
			yes, questions, grown = yes+l.yes, questions+l.asked, grown+1
		}
	}
	ours := fmt.Sprintf("%s over %d sizes above the smallest filter, at most %s (%d of %d, at %d keys)",
		percent(float64(yes)/float64(max(questions, 1))), grown, percent(float64(worst.yes)/float64(worst.asked)), worst.yes, worst.asked, worst.keys)
	all := append([]look{{yes: yes, asked: questions}}, looks...)
	check := lab.Holds(name, promise, ours, below(asked, all),
		fmt.Sprintf("at every size, and over these, no more yeses than the asked rate gives and %d standard deviations of the binomial distribution", lab.Sigmas))
	if below(asked*(1+held), all) {
		check = check.Because(heldBack)
	}
	return check
}

// below reports whether no look has more yeses than a rate explains.
func below(rate float64, looks []look) bool {
	for _, l := range looks {
		if _, most := theory.BinomialInterval(float64(l.asked), rate, lab.Sigmas); float64(l.yes) > most {
			return false
		}
	}
	return true
}

// ownAccount checks what the filter says of itself, which has no spread.
func ownAccount(name string, asked float64, looks []look) lab.Check {
	highest := looks[0]
	for _, l := range looks {
		if l.says > highest.says {
			highest = l
		}
	}
	check := lab.Holds(name, "keeps the rate it was asked for at every size (package comment)",
		fmt.Sprintf("at most %.6f of the asked rate, at %d keys", highest.says/asked, highest.keys), highest.says <= asked, "at every hundredth of the way, by Info")
	if highest.says <= asked*(1+held) {
		check = check.Because(heldBack)
	}
	return check
}

// neverDenied checks that all members got a yes.
func neverDenied(name string, looks []look) lab.Check {
	denied, asked := 0, 0
	for _, l := range looks {
		denied, asked = denied+l.denied, asked+min(l.asked, l.keys)
	}
	return noneOf(name, "a key that is in the set is never denied (README)", denied, asked, "members denied")
}

// noneOf checks that something never happened.
func noneOf(name, promise string, happened, of int, what string) lab.Check {
	return lab.Holds(name, promise, fmt.Sprintf("%d of %d %s", happened, of, what), happened == 0 && of > 0, "not one")
}

// within checks that all values lie in a range that is printed as two numbers,
// such as "10.1" and "13.5".
func within(name, least, most, where string, values []float64) lab.Check {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	from, to, half := numberOf(least), numberOf(most), halfOf(most)
	return lab.Holds(name, fmt.Sprintf("%s to %s (%s)", least, most, where),
		fmt.Sprintf("%s to %s", lab.Digits(lo, 4), lab.Digits(hi, 4)),
		len(values) > 0 && lo >= from-half && hi <= to+half,
		fmt.Sprintf("all of %d values inside, by the digits printed", len(values)))
}

func numberOf(text string) (v float64) {
	_, _ = fmt.Sscan(text, &v) // the texts are constants of this package
	return v
}

// halfOf is half a unit of the last digit.
func halfOf(text string) float64 {
	for i, r := range text {
		if r == '.' {
			return math.Pow(10, -float64(len(text)-i-1)) / 2
		}
	}
	return 0.5
}

// pick returns one number of each look that has at least so many keys.
func pick(looks []look, least int, number func(look) float64) (values []float64) {
	for _, l := range looks {
		if l.keys >= least {
			values = append(values, number(l))
		}
	}
	return values
}

// line turns looks into points.
func line(looks []look, y func(look) float64) (points []lab.Point) {
	for _, l := range looks {
		points = append(points, lab.Point{X: float64(l.keys), Y: y(l)})
	}
	return points
}

// rates are the measured rates, as shares of the asked one.
func rates(looks []look, asked float64) (points []lab.Point) {
	for _, l := range looks {
		p := lab.Share(float64(l.keys), l.yes, l.asked)
		points = append(points, lab.Point{X: p.X, Y: p.Y / asked, Lo: p.Lo / asked, Hi: p.Hi / asked})
	}
	return points
}

func fastBits(l look) float64 { return l.fast }

func slowBits(l look) float64 { return l.slow }

func allBits(l look) float64 { return l.fast + l.slow }

// timed begins the names of checks that compare times. They hold on a quiet
// machine; nothing else depends on them.
const timed = "timing: "
