package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// commandsView is what the page of commands shows.
type commandsView struct {
	Details bool // commands with their words, and connections
	Rows    []commandRow
	Clients []Client
	More    int // clients that are not shown
	Slow    []slowRow
	Ran     []ranRow
	RanOf   int64 // commands in the last second
}

type commandRow struct {
	Name string
	count
	Share float64 // of the busiest command
}

type slowRow struct {
	At, Took, Words, Addr string
}

type ranRow struct {
	At, Words, Addr, User string
}

const (
	clientsShown = 50
	slowShown    = 50
)

func (c *Console) commands(_ *http.Request, u User) (frame, error) {
	v := commandsView{Details: u.Admin && u.Prefix == "", Rows: c.history.commandRows()}
	if v.Details { // others see no keys and addresses that are not theirs
		v.Clients = c.source.Clients()
		slices.SortFunc(v.Clients, func(a, b Client) int { return a.Since.Compare(b.Since) })
		if v.More = len(v.Clients) - clientsShown; v.More > 0 {
			v.Clients = v.Clients[:clientsShown]
		}
		slow := c.source.Slow()
		for _, s := range slow[:min(len(slow), slowShown)] {
			v.Slow = append(v.Slow, slowRow{s.At.UTC().Format("2006-01-02 15:04:05"), inSeconds(s.Took.Seconds()), displayAll(s.Words), s.Addr})
		}
		ran, of := c.history.sample(time.Now())
		v.RanOf = of
		for _, r := range ran {
			v.Ran = append(v.Ran, ranRow{r.At.UTC().Format("15:04:05.000"), displayAll(r.Words), r.Addr, r.User})
		}
	}
	return frame{Title: "Commands", Page: "commands", View: v}, nil
}

// displayAll returns the words of a command as they are typed, but for the last one if it says
// what was left out.
func displayAll(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		if shown[i] = quoted(w); i == len(words)-1 && strings.HasPrefix(w, "... (") {
			shown[i] = display(w)
		}
	}
	return cutLine(strings.Join(shown, " "))
}

// maxLine is how many bytes of a command are shown.
const maxLine = 600

// cutLine shortens a command that has many long words.
func cutLine(line string) string {
	if len(line) <= maxLine {
		return line
	}
	return strings.ToValidUTF8(line[:maxLine], "") + " …"
}

// maxWords is how many words of a command are shown.
const maxWords = 12

// commandLine returns a command as it is typed for redis-cli.
func commandLine(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i == maxWords {
			fmt.Fprintf(&b, "… (%d more)", len(words)-i)
			break
		}
		b.WriteString(quoted(w))
	}
	return b.String()
}

// quoted returns a word as redis-cli takes it, or the beginning of a long one.
func quoted(w string) string {
	if len(w) > maxShown {
		return display(w)
	}
	if w == "" || strings.ContainsAny(w, " \"'\\") || display(w) != w {
		return redisQuote(w)
	}
	return w
}

// redisQuote returns a word in double quotes. redis-cli knows bytes as \xHH.
func redisQuote(w string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(w) {
		switch ch := w[i]; {
		case ch == '"' || ch == '\\':
			b.WriteByte('\\')
			b.WriteByte(ch)
		case ch < ' ' || ch >= 0x7F:
			fmt.Fprintf(&b, `\x%02x`, ch)
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// commandRows returns all commands that ran, the busiest first.
func (h *history) commandRows() (rows []commandRow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	most := 0.0
	for name, n := range h.commands {
		rows = append(rows, commandRow{Name: strings.ToUpper(strings.ReplaceAll(name, "|", " ")), count: n})
		most = max(most, n.PerSecond)
	}
	for i := range rows {
		if most > 0 {
			rows[i].Share = rows[i].PerSecond / most
		}
	}
	slices.SortFunc(rows, func(a, b commandRow) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return rows
}
