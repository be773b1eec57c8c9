package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// setView is what the page of a set shows.
type setView struct {
	Row       setRow
	Info      filter.Info
	Set       Set
	Capacity  uint64
	Link      string // of this page
	File      string // of the download
	Admin     bool
	CanDelete bool
	Harmed    bool // deleting keys that were never added may take others along
	Spans     []spanLink
	Charts    []chart
	Heat      heatMap
	Try       *tried // what was tried, nil before
	Items     string // that were typed
}

// tried is a command of the console and what became of it.
type tried struct {
	Command string
	Problem string
	Answers []answer
}

type answer struct {
	Item, Text string
	Yes        bool
}

var errNoSet = problem{http.StatusNotFound, "There is no set of this name. It may have been dropped, renamed or expired."}

// visible returns the set that a request names, if the user may see it.
func (c *Console) visible(r *http.Request, u User) (string, Set, error) {
	name, s := c.named(r.URL.Query(), u)
	if s == nil {
		return name, nil, errNoSet
	}
	return name, s, nil
}

func (c *Console) set(r *http.Request, u User) (frame, error) {
	name, s, err := c.visible(r, u)
	if err != nil {
		return frame{}, err
	}
	address := setAddress(name, s)
	v := &setView{Row: c.row(name, s), Info: s.Info(), Set: s, Link: setLink(name, s), File: "/console/file?" + address.Encode(), Admin: u.Admin, CanDelete: s.CanDelete()}
	v.Capacity, _ = s.Asked()
	kind, err := kinds.ByName(v.Row.Kind)
	v.Harmed = v.CanDelete && (err != nil || kind.AbsentDelete != "refused")
	at, links := chosenSpan(r, address)
	v.Spans = links
	keys, size, rate := c.history.ofSet(s.Number(), at)
	span := spans()[at]
	one := []string{""}
	v.Charts = []chart{
		overTime("Keys", span, quantity.Short, one, keys),
		overTime("Memory", span, inBytes, one, size).rounded(2),
		rateChart(span, rate, v.Row.Asked),
	}
	if keys == nil && c.source.Numbers().Sets > maxTracks {
		for i := range v.Charts {
			v.Charts[i].Note = "is kept for the " + quantity.Count(maxTracks) + " largest sets"
		}
	}
	v.Heat = newHeatMap(v.Row.Kind, s.Fills(heatCells))
	return frame{Title: display(name), Page: "set", View: v}, nil
}

// rateChart returns the chart of false-positive rates. Rates far below what was asked for lie at
// its bottom.
func rateChart(s span, rates []float64, asked float64) chart {
	c := overTime("False-positive rate", s, rateText, []string{""}, rates)
	c.Y.Max = niceMax(max(largest(rates), farBelow*asked), 10)
	if len(rates) > 0 {
		c.Note = rateBeside(rates[len(rates)-1], asked)
	}
	return c
}

// setQuery returns the parameters of the page of a set.
func setQuery(r *http.Request) url.Values {
	for _, by := range []string{"name", "number"} {
		if value := r.URL.Query().Get(by); value != "" {
			return spanned(r, url.Values{by: {value}})
		}
	}
	return url.Values{}
}

// setPage shows a set. An address with a long name leads to a short one.
func (c *Console) setPage(p page) http.HandlerFunc {
	show := c.show(p)
	return c.withUser(func(w http.ResponseWriter, r *http.Request, u User) {
		if name, s, err := c.visible(r, u); err == nil && len(r.URL.Query().Get("name")) > maxLinked {
			http.Redirect(w, r, setLink(name, s), http.StatusSeeOther)
			return
		}
		show(w, r)
	})
}

// The actions of the page of a set.
const (
	doAdd     = "add"
	doAsk     = "ask"
	doDelete  = "delete"
	doExpire  = "expire"
	doPersist = "persist"
	doRename  = "rename"
	doDrop    = "drop"
)

// setForm does what a form of the page of a set asks for.
func (c *Console) setForm(w http.ResponseWriter, r *http.Request, u User) {
	name, _, err := c.visible(r, u)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	action := r.PostFormValue("do")
	if action != doAsk && !u.Admin {
		c.fail(w, r, http.StatusForbidden, "Changes need the role admin.")
		return
	}
	var t *tried
	switch action {
	case doAdd, doAsk, doDelete:
		t = c.tryItems(r, u, name, action)
	case doExpire:
		t = c.expire(r, u, name)
	case doPersist:
		t = c.run(r, u, "PERSIST", name)
	case doRename:
		to := r.PostFormValue("to")
		if t = c.run(r, u, "RENAMENX", name, to); t.Problem == "" && t.Answers[0].Yes {
			http.Redirect(w, r, c.linkTo(to), http.StatusSeeOther)
			return
		}
		if t.Problem == "" {
			t.Problem = "A set of that name exists."
		}
	case doDrop:
		if t = c.run(r, u, "DEL", name); t.Problem == "" {
			http.Redirect(w, r, "/console/sets", http.StatusSeeOther)
			return
		}
	default:
		c.fail(w, r, http.StatusBadRequest, "The form asks for nothing that is known.")
		return
	}
	c.showTried(w, r, u, t)
}

// showTried shows the page of the set again, with what became of a command.
func (c *Console) showTried(w http.ResponseWriter, r *http.Request, u User, t *tried) {
	name, s, err := c.visible(r, u)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	f, err := c.set(r, u)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	if v, ok := f.View.(*setView); ok {
		v.Try, v.Items = t, r.PostFormValue("items")
	}
	f.User, f.Live = &u, live("set", spanned(r, setAddress(name, s)))
	c.render(w, http.StatusOK, f)
}

// maxItems is how many items a form may have.
const maxItems = 1000

// tryItems adds, asks or deletes the items of a form, one on each line.
func (c *Console) tryItems(r *http.Request, u User, name, action string) *tried {
	var items []string
	for line := range strings.Lines(r.PostFormValue("items")) {
		if item := strings.TrimRight(line, "\r\n"); item != "" {
			items = append(items, item)
		}
	}
	switch {
	case len(items) == 0:
		return &tried{Problem: "Type at least one item."}
	case len(items) > maxItems:
		return &tried{Problem: fmt.Sprintf("%d items, at most %d.", len(items), maxItems)}
	}
	command := map[string]string{doAdd: "EB.ADD", doAsk: "EB.EXISTS", doDelete: "EB.DEL"}[action]
	t := c.run(r, u, append([]string{command, name}, items...)...)
	texts := map[string][2]string{
		doAdd:    {"added", "looks as if it was there already"},
		doAsk:    {"may be in the set", "is not in the set"},
		doDelete: {"deleted", "was not in the set"},
	}[action]
	for i := range t.Answers {
		a := &t.Answers[i]
		if i < len(items) {
			a.Item = items[i]
		}
		switch {
		case a.Text != "":
		case a.Yes:
			a.Text = texts[0]
		default:
			a.Text = texts[1]
		}
	}
	return t
}

// expire sets when a set ends.
func (c *Console) expire(r *http.Request, u User, name string) *tried {
	d, err := time.ParseDuration(strings.ReplaceAll(r.PostFormValue("in"), " ", ""))
	if err != nil || d < time.Second {
		return &tried{Problem: "Write a time such as 30s, 10m or 24h."}
	}
	return c.run(r, u, "PEXPIRE", name, fmt.Sprint(d.Milliseconds()))
}

// run runs a command and reads its reply.
func (c *Console) run(r *http.Request, u User, words ...string) *tried {
	t := &tried{Command: commandLine(words)}
	lines, err := c.source.Do(u, r.RemoteAddr, words...)
	if err != nil {
		t.Problem = "The outcome is unknown: " + err.Error()
		return t
	}
	for i, line := range lines {
		switch {
		case line == "" || line[0] == '*':
		case line[0] == '-' && i == 0:
			t.Problem = line[1:]
		case line[0] == '-':
			t.Answers = append(t.Answers, answer{Text: line[1:]})
		default:
			t.Answers = append(t.Answers, answer{Yes: line != ":0"})
		}
	}
	if t.Problem == "" && len(t.Answers) == 0 {
		t.Problem = "The server gave no answer."
	}
	return t
}

// file sends the file of a set.
func (c *Console) file(w http.ResponseWriter, r *http.Request, u User) {
	name, s, err := c.visible(r, u)
	if err == nil && !u.Admin {
		err = problem{http.StatusForbidden, "A download needs the role admin: it has the secret of the hash."}
	}
	if err != nil {
		c.failed(w, r, err)
		return
	}
	content, err := s.File()
	if err != nil {
		c.failed(w, r, problem{http.StatusConflict, err.Error()})
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="`+fileName(name)+`.everbloom"`)
	_, _ = content.WriteTo(patient{w}) // the browser may be gone
}

// fileName returns a name that no file system misunderstands.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return safe[:min(len(safe), 60)]
}
