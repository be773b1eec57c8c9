package console

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// createView is what the page shows that makes a set by its needs.
type createView struct {
	Name, Items, Rate, Spare, Kind string

	Delete, Known, Grow, Merge bool

	Kinds   []string
	Admin   bool
	Problem string // of the request to make it
	Plan    planView
}

// planView is what the plan says about the needs.
type planView struct {
	Problem string
	Best    string // the kind that will be taken
	Why     string
	Rows    []planRow
	Charts  []chart
	Command string
	Code    string
}

// A planRow is one kind, judged.
type planRow struct {
	everbloom.Choice
	Verdict string
	Size    string
	Chosen  bool
}

func (c *Console) create(r *http.Request, u User) (frame, error) {
	v := c.needsOf(r)
	v.Admin, v.Kinds = u.Admin, c.source.Kinds()
	v.Plan = c.plan(v)
	return frame{Title: "Create a set", Page: "create", View: v}, nil
}

// needsOf reads the form. A form that was not filled in has the defaults.
func (c *Console) needsOf(r *http.Request) *createView {
	v := &createView{
		Name: r.FormValue("name"), Items: r.FormValue("items"), Rate: r.FormValue("rate"), Spare: r.FormValue("spare"), Kind: r.FormValue("kind"),
		Delete: r.FormValue("delete") != "", Known: r.FormValue("known") != "", Grow: r.FormValue("grow") != "", Merge: r.FormValue("merge") != "",
	}
	if !r.Form.Has("items") {
		v.Items = "1M"
	}
	if !r.Form.Has("rate") {
		v.Rate = "1%"
	}
	if v.Spare == "" {
		v.Spare = everbloom.Time.String()
	}
	v.Delete = v.Delete || v.Known
	return v
}

// maxPlanned is the largest number of keys that EB.CREATE takes.
const maxPlanned = 274_877_906_944

// needs returns what the form asks for.
func (v *createView) needs() (n everbloom.Needs, err error) {
	n = everbloom.Needs{Delete: v.Delete, KnownDeletes: v.Known, Grow: v.Grow, Merge: v.Merge, Kind: v.Kind}
	if n.Items, err = quantity.ParseCount(v.Items); err != nil {
		return n, fmt.Errorf("keys: %w", err)
	}
	if n.Items > maxPlanned {
		return n, fmt.Errorf("keys: at most %s", quantity.Count(maxPlanned))
	}
	if n.FPR, err = quantity.ParseRate(v.Rate); err != nil {
		return n, fmt.Errorf("rate: %w", err)
	}
	n.Spare, err = everbloom.ParseResource(v.Spare)
	return n, err
}

// plan judges all kinds that the server makes.
func (c *Console) plan(v *createView) (p planView) {
	n, err := v.needs()
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	choices, err := everbloom.Plan(n)
	if err != nil && len(choices) == 0 {
		p.Problem = err.Error()
		return p
	}
	known := c.source.Kinds()
	for _, ch := range choices {
		if !slices.Contains(known, ch.Kind) {
			continue
		}
		row := planRow{Choice: ch, Verdict: verdict(ch), Size: "–"}
		if bits := ch.FastBitsPerKey + ch.SlowBitsPerKey; bits > 0 {
			row.Size = quantity.Bytes(bits * float64(n.Items) / 8)
		}
		if p.Best == "" && (n.Kind == "" && ch.Fits || n.Kind == ch.Kind && (ch.Fits || ch.Weaker)) {
			p.Best, p.Why, row.Chosen = ch.Kind, ch.Why, true
		}
		p.Rows = append(p.Rows, row)
	}
	if p.Best == "" {
		p.Problem = "No kind that a server has does all of this."
		if n.Kind != "" {
			p.Problem = "The kind " + n.Kind + " cannot do this."
		}
	} else {
		p.Command, p.Code = commandLine(v.words(n)), goCode(n)
	}
	p.Charts = planCharts(n, p.Rows)
	return p
}

func verdict(ch everbloom.Choice) string {
	switch {
	case ch.Fits:
		return "fits"
	case ch.Weaker:
		return "promises less"
	}
	return "cannot"
}

// words returns the command that makes the set.
func (v *createView) words(n everbloom.Needs) []string {
	name := v.Name
	if name == "" {
		name = "NAME"
	}
	words := []string{"EB.CREATE", name, "ITEMS", strconv.FormatUint(n.Items, 10), "FPR", strconv.FormatFloat(n.FPR, 'g', -1, 64)}
	for _, flag := range []struct {
		on   bool
		word string
	}{{n.Delete && !n.KnownDeletes, "DELETE"}, {n.KnownDeletes, "KNOWNDELETES"}, {n.Grow, "GROW"}, {n.Merge, "MERGE"}} {
		if flag.on {
			words = append(words, flag.word)
		}
	}
	if n.Spare != everbloom.Time {
		words = append(words, "SPARE", n.Spare.String())
	}
	if n.Kind != "" {
		words = append(words, "KIND", n.Kind)
	}
	return words
}

// goCode returns the program that makes the same set in memory.
func goCode(n everbloom.Needs) string {
	fields := []string{fmt.Sprintf("Items: %d", n.Items), "FPR: " + strconv.FormatFloat(n.FPR, 'g', -1, 64)}
	for _, flag := range []struct {
		on   bool
		text string
	}{
		{n.Delete, "Delete: true"},
		{n.KnownDeletes, "KnownDeletes: true"},
		{n.Grow, "Grow: true"},
		{n.Merge, "Merge: true"},
		{n.Spare == everbloom.FastMemory, "Spare: everbloom.FastMemory"},
		{n.Spare == everbloom.TotalMemory, "Spare: everbloom.TotalMemory"},
		{n.Kind != "", "Kind: " + strconv.Quote(n.Kind)},
	} {
		if flag.on {
			fields = append(fields, flag.text)
		}
	}
	return "set, err := everbloom.New(everbloom.Needs{" + strings.Join(fields, ", ") + "})"
}

const (
	planCurves = 4  // more lines than that cannot be told apart
	planSteps  = 24 // numbers of keys that are predicted
)

// planCharts shows the rate and the memory of the first kinds, from a hundredth of the keys
// to ten times as many.
func planCharts(n everbloom.Needs, rows []planRow) []chart {
	x := axis{Log: true, Min: max(1, float64(n.Items)/100), Max: 10 * float64(n.Items), Format: func(v float64) string { return quantity.Round(v) + " keys" }}
	rates := chart{Title: "False-positive rate", Note: "over the number of keys", X: x, Y: axis{Log: true, Min: n.FPR / 100, Max: 1, Format: rateText}}
	sizes := chart{Title: "Bits per key", Note: "over the number of keys", X: x, Y: axis{Log: true, Min: math.Inf(1), Format: quantity.Round}}
	for _, row := range rows {
		if len(rates.Curves) == planCurves || !row.Fits && !row.Weaker {
			continue
		}
		k, err := kinds.ByName(row.Kind)
		if err != nil {
			continue
		}
		rate, size := curve{Name: row.Kind}, curve{Name: row.Kind}
		for i := range planSteps + 1 {
			keys := math.Round(x.Min * math.Pow(x.Max/x.Min, float64(i)/planSteps))
			p, err := k.Predict(kinds.Config{Items: n.Items, FPR: n.FPR}, uint64(keys))
			if err != nil {
				break // it cannot hold so many
			}
			bits := max(p.FastBitsPerKey+p.SlowBitsPerKey, 1e-3)
			rate.X, rate.Y = append(rate.X, keys), append(rate.Y, p.FPR)
			size.X, size.Y = append(size.X, keys), append(size.Y, bits)
			sizes.Y.Min, sizes.Y.Max = min(sizes.Y.Min, bits/1.3), max(sizes.Y.Max, bits*1.3)
		}
		rates.Curves, sizes.Curves = append(rates.Curves, rate), append(sizes.Curves, size)
	}
	if len(rates.Curves) == 0 || sizes.Y.Max == 0 {
		return nil
	}
	return []chart{rates, sizes}
}

// planPart answers with the plan alone, for a form that is being filled in.
func (c *Console) planPart(w http.ResponseWriter, r *http.Request, u User) {
	f, err := c.create(r, u)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := c.pages.templates.ExecuteTemplate(w, "plan", f.View); err != nil {
		return // the browser is gone
	}
}

// createForm makes the set.
func (c *Console) createForm(w http.ResponseWriter, r *http.Request, u User) {
	if !u.Admin {
		c.fail(w, r, http.StatusForbidden, "Changes need the role admin.")
		return
	}
	f, err := c.create(r, u)
	v, ok := f.View.(*createView)
	if err != nil || !ok {
		c.failed(w, r, err)
		return
	}
	n, err := v.needs()
	switch {
	case v.Name == "":
		v.Problem = "The set needs a name."
	case err != nil:
		v.Problem = err.Error()
	default:
		t := c.run(r, u, v.words(n)...)
		if v.Problem = t.Problem; v.Problem == "" {
			http.Redirect(w, r, c.linkTo(v.Name), http.StatusSeeOther)
			return
		}
	}
	f.User = &u
	c.render(w, http.StatusUnprocessableEntity, f)
}
