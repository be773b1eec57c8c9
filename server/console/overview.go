package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// overviewView is what the first page shows.
type overviewView struct {
	Numbers
	Spans    []spanLink
	Warnings []string
	Charts   []chart
	Largest  []setRow
	Used     float64 // share of the memory limit
	Full     float64 // share of the disk
}

// A spanLink chooses how far charts go back.
type spanLink struct {
	Title, Link string
	Chosen      bool
}

// spanned adds the span that a request asks for to the other parameters of its page.
func spanned(r *http.Request, query url.Values) url.Values {
	chosen, _ := chosenSpan(r, query)
	return withSpan(query, chosen)
}

// onlySpan returns the parameters of a page that has no others.
func onlySpan(r *http.Request) url.Values { return spanned(r, url.Values{}) }

// withSpan returns the parameters of a page whose charts go back as far as a span. The first
// span is left out.
func withSpan(query url.Values, span int) url.Values {
	out := maps.Clone(query)
	if span > 0 {
		out.Set("span", spans()[span].Name)
	}
	return out
}

// chosenSpan returns the span that a request asks for, and links to all of them from a page
// with other parameters.
func chosenSpan(r *http.Request, query url.Values) (chosen int, links []spanLink) {
	all := spans()
	for i, s := range all {
		if r.FormValue("span") == s.Name {
			chosen = i
		}
	}
	for i, s := range all {
		links = append(links, spanLink{s.Title, "?" + withSpan(query, i).Encode(), i == chosen})
	}
	return chosen, links
}

// largestShown is how many sets the overview shows.
const largestShown = 10

func (c *Console) overview(r *http.Request, u User) (frame, error) {
	n := c.source.Numbers()
	v := overviewView{Numbers: n, Warnings: warnings(n), Used: float64(n.SetBytes) / float64(max(n.MaxMemory, 1))}
	if n.Disk > 0 {
		v.Full = 1 - float64(n.DiskFree)/float64(n.Disk)
	}
	at, links := chosenSpan(r, url.Values{})
	v.Spans = links
	s := spans()[at]
	values := c.history.ofServer(at, seriesCommands, seriesEffects, seriesWait, seriesSets, seriesResident, seriesLog, seriesClients, seriesCount)
	v.Charts = []chart{
		overTime("Operations", s, perSecond, []string{"commands", "changes"}, values[0], values[1]),
		overTime("Time to write the log", s, inSeconds, []string{""}, values[2]),
		overTime("Memory", s, inBytes, []string{"sets", "process"}, values[3], values[4]).rounded(2),
		overTime("Log", s, bytesPerSecond, []string{""}, values[5]).rounded(2),
		overTime("Connections", s, quantity.Short, []string{""}, values[6]),
		overTime("Sets", s, quantity.Short, []string{""}, values[7]),
	}
	for _, name := range c.history.largest(u.Prefix, largestShown) {
		if set := c.source.Set(name); set != nil {
			v.Largest = append(v.Largest, c.row(name, set))
		}
	}
	return frame{Title: "Overview", Page: "overview", View: v}, nil
}

// The shares from which on a resource is nearly used up.
const (
	muchMemory = 0.9
	muchDisk   = 0.95
)

// warnings says what an operator should look at.
func warnings(n Numbers) (out []string) {
	if n.Refused != "" {
		out = append(out, "Changes are refused: "+n.Refused)
	}
	if n.ImagesFailed {
		out = append(out, fmt.Sprintf("Images could not be written; the last ones are from %s.", n.Images.UTC().Format(time.DateTime+" UTC")))
	}
	if n.MaxMemory > 0 && float64(n.SetBytes) > muchMemory*float64(n.MaxMemory) {
		out = append(out, fmt.Sprintf("Sets take %s of the %s that maxmemory allows. Beyond it, adds are refused.", quantity.Bytes(float64(n.SetBytes)), quantity.Bytes(float64(n.MaxMemory))))
	}
	if n.Disk > 0 && float64(n.DiskFree) < (1-muchDisk)*float64(n.Disk) {
		out = append(out, fmt.Sprintf("%s of the disk are free. Changes are refused when it is nearly full.", quantity.Bytes(float64(n.DiskFree))))
	}
	if n.Rejected > 0 {
		out = append(out, quantity.Count(uint64(n.Rejected))+" connections were refused because of maxclients.")
	}
	return out
}
