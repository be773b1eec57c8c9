package gatereport

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/everbloom-go/everbloom/gate"
	"github.com/everbloom-go/everbloom/internal/gate/exact"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// table writes rows of two columns. Errors are kept for the end.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer) table { return table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

func (t table) row(name, format string, args ...any) {
	_, _ = fmt.Fprintf(t, name+"\t"+format+"\n", args...) // Flush reports
}

// Text writes the summary as text.
func (s Summary) Text(w io.Writer) error {
	t := newTable(w)
	g := s.Gate
	t.row("packets", "%s%s", quantity.Count(g.Packets), s.speed())
	if len(s.Skipped) > 0 {
		t.row("skipped", "%s", Skipped(s.Skipped))
	}
	t.row("passed", "%s", quantity.Count(g.Passed))
	if g.Dropped > 0 {
		t.row("dropped", "%s, each completed a pattern", quantity.Count(g.Dropped))
	}
	t.row("rejected", "%s%s", quantity.Count(g.Rejected), reasons(g))
	t.row("strikes", "%s", quantity.Count(g.Strikes))
	t.row("bans", "%s", quantity.Count(g.Bans))
	t.row("tracked users", "%s", describe(g.Tracked))
	t.row("banned sources", "%s", describe(g.Banned))
	t.row("states", "%s of %s", quantity.Count(uint64(g.States)), quantity.Count(uint64(g.Room)))
	t.row("memory", "%s", memory(g))
	if g.Lost.Any() {
		t.row("given up", "%s", given(g.Lost))
	}
	if s.Check != nil {
		checkRows(t, *s.Check)
	}
	return t.Flush()
}

// memory returns what is in use, and the limit if there is one.
func memory(g gate.Stats) string {
	text := quantity.Bytes(float64(g.Bytes))
	if g.Limit > 0 {
		text += " of " + quantity.Bytes(float64(g.Limit))
	}
	return text
}

// Skipped describes frames that were skipped, the most frequent first.
func Skipped(by map[string]uint64) string {
	kinds := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	var list []string
	for _, what := range kinds {
		list = append(list, quantity.Count(by[what])+" "+what)
	}
	return "frames: " + strings.Join(list, ", ")
}

func (s Summary) speed() string {
	if s.Seconds <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s per second", quantity.Short(float64(s.Gate.Packets)/s.Seconds))
}

// reasons returns how many packets were rejected for which reason.
func reasons(g gate.Stats) string {
	var list []string
	for _, r := range []gate.Reason{gate.Banned, gate.Listed, gate.OverLimit} {
		if n := g.Reasons[r.String()]; n > 0 {
			list = append(list, fmt.Sprintf("%s %s", quantity.Count(n), r))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

func describe(s gate.Set) string {
	text := fmt.Sprintf("%s, %s, %s, rate %s", s.Kind, quantity.Keys(s.Keys),
		quantity.Bytes(float64(s.FastBits+s.SlowBits)/8), quantity.Rate(s.FPR))
	if s.Pinned > 0 {
		text += fmt.Sprintf(", %s pinned", quantity.Count(s.Pinned))
	}
	if s.Overfull {
		text += ", overfull"
	}
	return text
}

// given returns what the gate gave up for want of memory.
func given(l gate.Lost) string {
	var list []string
	for _, c := range []struct {
		n    uint64
		what string
	}{
		{l.Chains, "beginnings of patterns"},
		{l.Strikes, "strikes"},
		{l.Users, "packets of users that could not be tracked"},
		{l.Overflow, "bans kept beside the banned set"},
		{l.Bans, "bans that were forgotten"},
	} {
		if c.n > 0 {
			list = append(list, quantity.Count(c.n)+" "+c.what)
		}
	}
	if l.Exact {
		list = append(list, "exact confirmation")
	}
	return strings.Join(list, ", ") + ": more memory would help"
}

// checkRows writes the result of the comparison with an exact gate.
func checkRows(t table, r exact.Report) {
	ordinary := r.Rejected[exact.FalsePositive]
	t.row("false positives", "%s of %s packets that an exact gate passes, %s predicted", quantity.Count(ordinary),
		quantity.Count(r.Legitimate), quantity.Short(r.Expected))
	if other := r.WronglyRejected() - ordinary; other > 0 {
		t.row("wrongly rejected", "%s more%s", quantity.Count(other), causes(r.Rejected))
	}
	t.row("wrongly passed", "%s%s", quantity.Count(r.WronglyPassed()), causes(r.Passed))
	if r.Otherwise > 0 {
		t.row("other reason", "%s packets that both passed or both held back", quantity.Count(r.Otherwise))
	}
	t.row("bans", "%s right, %s late, %s missing (%s rejected all the same), %s spurious", quantity.Count(r.Bans.Right),
		quantity.Count(r.Bans.Late), quantity.Count(r.Bans.Missing), quantity.Count(r.Bans.Covered), quantity.Count(r.Bans.Spurious))
	t.row("rate, tracked", "%s", rates(r.Tracked))
	t.row("rate, banned", "%s", rates(r.Banned))
	for i, row := range r.Queries {
		t.row(fmt.Sprintf("truly %s", gate.Standing(i)), "answered %s none, %s good, %s bad",
			quantity.Count(row[gate.None]), quantity.Count(row[gate.Good]), quantity.Count(row[gate.Bad]))
	}
	if r.Both > 0 {
		t.row("in both sets", "%s", quantity.Count(r.Both))
	}
	if d := r.First; d != nil {
		t.row("first difference", "packet %d of %v: %v (%v), should be %v (%v)", d.Number, d.Src, d.Got.Action, d.Got.Reason, d.Want.Action, d.Want.Reason)
	}
}

func causes(by map[exact.Cause]uint64) string {
	var list []string
	for cause, n := range by {
		if cause == exact.FalsePositive {
			continue // has a row of its own
		}
		list = append(list, fmt.Sprintf("%s %s", quantity.Count(n), cause))
	}
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	return ": " + strings.Join(list, ", ")
}

func rates(m exact.Measured) string {
	return fmt.Sprintf("%s measured, %s predicted; %s false negatives, %s pinned",
		quantity.Rate(m.FPR), quantity.Rate(m.Predicted), quantity.Count(m.FalseNegatives), quantity.Count(m.Pinned))
}
