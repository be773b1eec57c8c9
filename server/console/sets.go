package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// pageSize is how many sets a page shows.
const pageSize = 100

// A setRow is one line of a table of sets.
type setRow struct {
	Name       setName
	Link, Kind string
	Keys       uint64
	Bytes      int64
	Asked      float64
	Rate       float64
	BitsPerKey float64
	Growth     string
	Expires    string
	Overfull   bool
}

// row describes a set.
func (c *Console) row(name string, s Set) setRow {
	info := s.Info()
	row := setRow{Name: setName{name}, Link: setLink(name, s), Kind: info.Kind, Keys: s.Items(), Bytes: s.Bytes(), Rate: info.FPR, Overfull: info.Overfull, Growth: "–", Expires: "–"}
	_, row.Asked = s.Asked()
	row.BitsPerKey = bitsPerKey(info, row.Keys)
	if perMinute, known := c.history.growth(s.Number()); known {
		row.Growth = signed(perMinute) + "/min"
	}
	if at := s.Expiry(); at != 0 {
		row.Expires = "in " + duration(time.Until(time.UnixMilli(at)))
	}
	return row
}

// bitsPerKey returns the memory of the filter itself for each key, 0 if there are none.
func bitsPerKey(i filter.Info, keys uint64) float64 {
	if keys == 0 {
		return 0
	}
	return float64(i.FastBits+i.SlowBits) / float64(keys)
}

// signed writes a number that may be negative.
func signed(x float64) string {
	switch {
	case x < 0:
		return "−" + quantity.Short(-x)
	case x > 0:
		return "+" + quantity.Short(x)
	}
	return "0"
}

// A candidate is a set that may be shown.
type candidate struct {
	name string
	set  Set
	by   float64
}

// An order is a column that sets may be sorted by.
type order struct {
	Name, Title string
	value       func(*Console, Set) float64 // nil: by name
	text        bool
}

// orders returns the columns of the table of sets.
func orders() []order {
	return []order{
		{Name: "name", Title: "name", text: true},
		{Name: "kind", Title: "kind", text: true},
		{Name: "keys", Title: "keys", value: func(_ *Console, s Set) float64 { return float64(s.Items()) }},
		{Name: "asked", Title: "rate asked", value: func(_ *Console, s Set) float64 { _, p := s.Asked(); return p }},
		{Name: "rate", Title: "rate now", value: func(_ *Console, s Set) float64 { return s.Info().FPR }},
		{Name: "bits", Title: "bits per key", value: func(_ *Console, s Set) float64 { return bitsPerKey(s.Info(), s.Items()) }},
		{Name: "memory", Title: "memory", value: func(_ *Console, s Set) float64 { return float64(s.Bytes()) }},
		{Name: "growth", Title: "growth", value: func(c *Console, s Set) float64 { g, _ := c.history.growth(s.Number()); return g }},
		{Name: "expires", Title: "expires", value: expiryOrder},
	}
}

// expiryOrder puts the sets that end first before all others, in descending order.
func expiryOrder(_ *Console, s Set) float64 {
	if at := s.Expiry(); at != 0 {
		return -float64(at)
	}
	return -1e18
}

// A column is the head of a column, a link that sorts by it.
type column struct {
	Title, Link string
	Sort        string // ascending, descending or none
	Text        bool
}

// setsView is what the page of sets shows.
type setsView struct {
	Prefix      string
	By          string
	Reverse     bool
	Columns     []column
	Rows        []setRow
	Found       uint64
	First, Last uint64
	Before      string // link to the page before
	After       string
}

// askedSets returns what a request asks for: which sets, in which order, and the number of
// the page.
func askedSets(r *http.Request) (v setsView, by order, number int) {
	q := r.URL.Query()
	by = orders()[0]
	for _, o := range orders() {
		if o.Name == q.Get("by") {
			by = o
		}
	}
	number, _ = strconv.Atoi(q.Get("page")) // anything else is the first
	return setsView{Prefix: q.Get("prefix"), By: by.Name, Reverse: q.Get("reverse") != ""}, by, max(number, 0)
}

// setsQuery returns the parameters of the page of sets.
func setsQuery(r *http.Request) url.Values {
	v, by, number := askedSets(r)
	return v.query(by.Name, v.Reverse, number)
}

func (c *Console) sets(r *http.Request, u User) (frame, error) {
	v, by, number := askedSets(r)
	if len(v.Prefix) > maxLinked {
		return frame{}, problem{http.StatusBadRequest, fmt.Sprintf("Names are searched by at most %d bytes.", maxLinked)}
	}
	found := c.candidates(u, v.Prefix, by)
	sortCandidates(found, by, v.Reverse)
	v.Found = uint64(len(found))
	number = min(number, max(len(found)-1, 0)/pageSize)
	shown := found[number*pageSize : min((number+1)*pageSize, len(found))]
	for _, one := range shown {
		v.Rows = append(v.Rows, c.row(one.name, one.set))
	}
	v.First, v.Last = uint64(number*pageSize+1), uint64(number*pageSize+len(shown))
	if number > 0 {
		v.Before = v.link(by.Name, v.Reverse, number-1)
	}
	if int(v.Last) < len(found) {
		v.After = v.link(by.Name, v.Reverse, number+1)
	}
	v.addColumns(by)
	return frame{Title: "Sets", Page: "sets", View: v}, nil
}

// candidates returns the sets that a user sees and that begin with a prefix.
func (c *Console) candidates(u User, prefix string, by order) []candidate {
	var found []candidate
	for name, s := range c.source.Sets() {
		if strings.HasPrefix(name, u.Prefix) && strings.HasPrefix(name, prefix) {
			found = append(found, candidate{name: name, set: s})
		}
	}
	if by.value != nil { // not inside of the loop, which holds locks
		for i := range found {
			found[i].by = by.value(c, found[i].set)
		}
	}
	return found
}

// sortCandidates sorts: names upwards, numbers downwards, unless it is reversed.
func sortCandidates(found []candidate, by order, reverse bool) {
	direction := 1
	if reverse {
		direction = -1
	}
	slices.SortFunc(found, func(a, b candidate) int {
		first := cmp.Compare(b.by, a.by)
		if by.Name == "kind" {
			first = cmp.Compare(a.set.KindName(), b.set.KindName())
		}
		return direction * cmp.Or(first, cmp.Compare(a.name, b.name))
	})
}

// link returns the address of another view of the same sets.
func (v *setsView) link(by string, reverse bool, number int) string {
	return "/console/sets?" + v.query(by, reverse, number).Encode()
}

// query returns the parameters of another view of the same sets.
func (v *setsView) query(by string, reverse bool, number int) url.Values {
	q := url.Values{"by": {by}}
	if v.Prefix != "" {
		q.Set("prefix", v.Prefix)
	}
	if reverse {
		q.Set("reverse", "1")
	}
	if number > 0 {
		q.Set("page", strconv.Itoa(number))
	}
	return q
}

func (v *setsView) addColumns(by order) {
	for _, o := range orders() {
		col := column{Title: o.Title, Sort: "none", Text: o.text, Link: v.link(o.Name, o.Name == by.Name && !v.Reverse, 0)}
		if o.Name == by.Name {
			col.Sort = "descending"
			if o.text != v.Reverse {
				col.Sort = "ascending"
			}
		}
		v.Columns = append(v.Columns, col)
	}
}
