package evergreen

import (
	"fmt"
	"strings"

	"github.com/everbloom-go/everbloom/internal/lab"
)

// historyChecks compares the real history with its description. An invented one
// has none.
func historyChecks(h history) []lab.Check {
	if !h.real {
		return nil
	}
	adds, deletes := h.count()
	return []lab.Check{
		lab.Exact("versions", "198", float64(len(h.versions))),
		lab.Exact("operations", "510,523", float64(adds+deletes)),
		lab.Exact("additions", "339,230", float64(adds)),
		lab.Exact("deletions", "171,293", float64(deletes)),
		lab.Exact("keys of the first version", "180,280", float64(len(h.versions[0]))),
		lab.Exact("keys in the end", "167,937", float64(adds-deletes)),
	}
}

// checks holds evergreen to all of its promises, and the others to the one that
// all filters make.
func (d diary) checks(rate float64) []lab.Check {
	last := d.looks[len(d.looks)-1]
	checks := []lab.Check{noneOf("no member denied in the end by "+d.name, "a key that is in the set is never denied (README)", d.denied, d.members, "members denied")}
	if !strings.HasPrefix(d.name, ownName) {
		return append(checks, lab.Show("rate in the end of "+d.name, percent(float64(last.yes)/float64(last.asked))))
	}
	checks = append(checks,
		kept("rate of "+d.name, "keeps the rate it was asked for at every size (package comment)", rate, d.looks),
		lab.Holds("refusals of "+d.name, "it deletes exactly (package comment)",
			fmt.Sprintf("%d adds, %d deletes", d.refused, d.pinned+d.notFound), d.refused+d.pinned+d.notFound == 0, "none"),
		noneOf("Len of "+d.name, "Len counts (package comment)", d.miscounted, len(d.looks), "times not the number of keys"))
	if d.name == ownName {
		const exact = "with whole keys everything is exact but MayContain (design 4)"
		checks = append(checks,
			noneOf("deleted keys that Contains finds in "+d.name, exact, d.revived, d.gone, "deletes"),
			noneOf("keys that Keys of "+d.name+" gives wrongly or not", exact, d.wrongKeys, last.keys, "keys"),
			noneOf("absent keys that "+d.name+" deletes", "a key whose fingerprint is not there is refused, exactly (package comment)", d.strayed, d.strays, "deletes that were not refused"))
	}
	return checks
}

func diaryTable(diaries []diary) lab.Table {
	t := lab.Table{
		Name: "filters", Title: "After the last version",
		Columns: []string{
			"filter", "fast bits per key", "slow", "all", "rate", "adds refused", "deletes pinned", "not found", "members denied",
			"absent keys deleted when asked to",
		},
	}
	for _, d := range diaries {
		l := d.looks[len(d.looks)-1]
		t.Add(d.name, l.fast, l.slow, l.fast+l.slow, percent(float64(l.yes)/float64(l.asked)), d.refused, d.pinned, d.notFound, d.denied,
			fmt.Sprintf("%d of %d", d.strayed, d.strays))
	}
	return t
}

func diaryPlot(diaries []diary, rate float64) lab.Plot {
	p := lab.Plot{
		Name: "rate", Title: "The rate, version by version",
		X: lab.Axis{Label: "version"}, Y: lab.Axis{Label: "false positives", Percent: true},
	}
	for _, d := range diaries {
		s := lab.Series{Name: d.name, Style: lab.LinePoints}
		for i, l := range d.looks {
			s.Points = append(s.Points, lab.Point{X: float64(d.at[i]), Y: float64(l.yes) / float64(l.asked)})
		}
		p.Series = append(p.Series, s)
	}
	ends := diaries[0].at
	p.Series = append(p.Series, lab.Series{Name: "asked", Style: lab.Dashed, Points: []lab.Point{
		{X: float64(ends[0]), Y: rate}, {X: float64(ends[len(ends)-1]), Y: rate},
	}})
	return p
}

func keysPlot(d diary) lab.Plot {
	s := lab.Series{Name: "keys", Style: lab.LinePoints}
	for i, l := range d.looks {
		s.Points = append(s.Points, lab.Point{X: float64(d.at[i]), Y: float64(l.keys)})
	}
	return lab.Plot{
		Name: "keys", Title: "Keys in the set", X: lab.Axis{Label: "version"}, Y: lab.Axis{Label: "keys"},
		Series: []lab.Series{s},
	}
}
