package gatereport

import (
	_ "embed" // for the template
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/growth"
	"github.com/everbloom-go/everbloom/internal/gate/event"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

//go:embed report.html
var pageText string

var report = template.Must(template.New("report").Funcs(template.FuncMap{
	"count": quantity.Count,
	"clock": func(t *time.Time) string {
		if t == nil {
			return ""
		}
		return t.Format("2006-01-02 15:04:05")
	},
}).Parse(pageText))

// Page is a summary as a page that needs nothing else.
type Page struct {
	Summary

	Without *Summary       // of the same packets, with hits that are not confirmed; may be nil
	Growth  *growth.Report // of a set that grew and shrank; may be nil
}

// HTML writes the page.
func (p Page) HTML(w io.Writer) error {
	var text strings.Builder
	if err := p.Text(&text); err != nil {
		return err
	}
	return report.Execute(w, struct {
		Page
		Headline, Lead           string
		Facts                    []Fact
		GrowthCharts, GateCharts []chart
		Gauges                   []gauge
		Downloads                []download
		Text                     string
	}{p, p.Headline(), p.lead(), p.Facts(), growthCharts(p.Growth), p.gateCharts(), p.gauges(), p.downloads(), text.String()})
}

// A gauge shows how full something is.
type gauge struct {
	Name, Text string
	Share      float64
}

// gauges are of the states, and of the memory if it has a limit.
func (s Summary) gauges() (all []gauge) {
	g := s.Gate
	if g.Room > 0 {
		all = append(all, gauge{"states", fmt.Sprintf("%s of %s users inside a pattern or with strikes", quantity.Count(uint64(g.States)), quantity.Count(uint64(g.Room))), float64(g.States) / float64(g.Room)})
	}
	if g.Limit > 0 {
		all = append(all, gauge{"memory", memory(g), float64(g.Bytes) / float64(g.Limit)})
	}
	return all
}

// A download is the list of bans as a file that is inside the page.
type download struct {
	Format string
	Data   template.URL
}

func (s Summary) downloads() (all []download) {
	for _, format := range event.Formats() {
		var text strings.Builder
		if event.Export(&text, format, s.Bans, time.Now()) == nil {
			data := base64.StdEncoding.EncodeToString([]byte(text.String()))
			all = append(all, download{format, template.URL("data:text/plain;base64," + data)})
		}
	}
	return all
}

// Headline returns the result in a sentence.
func (s Summary) Headline() string {
	if s.Check == nil {
		return fmt.Sprintf("%s of %s rejected, %s banned.", quantity.Count(s.Gate.Rejected),
			plural(s.Gate.Packets, "packet"), plural(s.Gate.Bans, "source"))
	}
	passed := "No packet of a banned source passed"
	if n := s.Check.WronglyPassed(); n > 0 {
		passed = plural(n, "packet") + " passed that should have been held back"
	}
	if s.Traffic == nil {
		return fmt.Sprintf("%s; %s rejected by mistake.", passed, plural(s.Check.WronglyRejected(), "packet"))
	}
	if s.Traffic.LockedOut == 0 {
		return passed + ", and no honest user was locked out."
	}
	return fmt.Sprintf("%s; %s locked out by false positives.", passed, plural(s.Traffic.LockedOut, "honest user"))
}

// lead returns further results, for the line under the headline.
func (p Page) lead() string {
	var list []string
	if p.Without != nil && p.Without.Traffic != nil {
		list = append(list, fmt.Sprintf("Had the gate trusted its filters instead of confirming each hit, %s would have been locked out for good.",
			plural(p.Without.Traffic.LockedOut, "honest user")))
	}
	if g := p.Growth; g != nil && len(g.Steps) > 0 {
		peak := g.Peak()
		list = append(list, fmt.Sprintf("A set grew from %s to %s keys and shrank again at %.1f %% of false positives and %.0f bits per key, and lost %s.",
			quantity.Count(g.Steps[0].Keys), quantity.Count(peak.Keys), 100*g.Worst(), peak.Bits, noneOr(g.Lost())))
	}
	return strings.Join(list, " ")
}

func noneOr(n uint64) string {
	if n == 0 {
		return "none"
	}
	return quantity.Keys(n)
}

func plural(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return quantity.Count(n) + " " + thing
}

// fact returns a number of things and what became of them.
func fact(n uint64, thing, rest string) Fact {
	value, name, _ := strings.Cut(plural(n, thing), " ")
	return Fact{value, name + " " + rest}
}

// A Fact is a figure and what it means, as the rest of a sentence.
type Fact struct{ Value, Text string }

// Facts are the figures that matter, in the order in which things happen.
func (p Page) Facts() []Fact {
	g := p.Gate
	facts := []Fact{fact(g.Packets, "packet", p.senders())}
	memory := Fact{quantity.Bytes(float64(g.Bytes)), "of memory"}
	if g.Limit > 0 {
		memory.Text += ", limit " + quantity.Bytes(float64(g.Limit))
	}
	if p.Traffic != nil {
		memory.Text += fmt.Sprintf("; a Go map of the addresses takes %s", quantity.Bytes(float64(p.Traffic.MapBytes)))
	}
	facts = append(facts, memory,
		fact(g.Passed, "packet", "passed"),
		fact(g.Rejected, "packet", "rejected, of sources that were banned or listed"),
		fact(g.Bans, "source", "banned for completed patterns"))
	if g.Lost.Any() {
		facts = append(facts, Fact{"Given up", given(g.Lost)})
	}
	return append(facts, p.errors()...)
}

// senders returns the sources of generated packets.
func (s Summary) senders() string {
	t := s.Traffic
	if t == nil {
		return "judged"
	}
	return fmt.Sprintf("of %s, %s and %s", plural(t.Honest, "honest user"), plural(t.Evil, "evil one"), plural(t.Listed, "listed source"))
}

// errors are the figures about mistakes: measured, if an exact gate judged as well.
func (p Page) errors() (facts []Fact) {
	if p.Check == nil && p.Confirmed {
		return []Fact{{"0", "sources rejected by mistake: every hit of a filter is confirmed by an exact lookup"}}
	}
	if p.Check == nil {
		rate := 0.0
		if n := len(p.Points); n > 0 {
			rate = p.Points[n-1].Rate
		}
		return []Fact{{quantity.Rate(rate), "of sources that are not banned are rejected by mistake, by prediction"}}
	}
	facts = []Fact{{quantity.Count(p.Check.WronglyPassed()), "packets passed that an exact gate, which judged them as well, holds back"}}
	if p.Without == nil {
		return append(facts, p.falsePositives("by false positives"))
	}
	how := "if each hit is confirmed"
	if p.Gate.Limit == p.Without.Gate.Limit {
		how += ", in the same memory"
	}
	return append(facts, p.Without.falsePositives("if filters are trusted"), p.falsePositives(how))
}

// falsePositives tells about users if these are known, else about packets.
func (s Summary) falsePositives(how string) Fact {
	wrong, predicted := s.Check.WronglyRejected(), quantity.Count(uint64(s.Check.Expected+0.5))
	if s.Traffic == nil {
		return Fact{quantity.Count(wrong), fmt.Sprintf("packets rejected %s, %s predicted", how, predicted)}
	}
	text := "honest users locked out " + how
	if wrong > 0 {
		text += fmt.Sprintf(": %s, %s predicted", plural(wrong, "packet"), predicted)
	}
	return Fact{quantity.Count(s.Traffic.LockedOut), text}
}
