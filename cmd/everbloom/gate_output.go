package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/gatereport"
	"github.com/everbloom-go/everbloom/gate/pattern"
)

// gateOutput is what the flags say about what is told in the end.
type gateOutput struct {
	json  bool
	html  string
	quiet bool
	page  *output // of html; nil if there is none, or no more
}

func (g *gateOutput) outputFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&g.json, "json", false, "print the summary as a JSON object")
	f.StringVar(&g.html, "html", "", "write a page with charts to `FILE`")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no summary and no progress bar")
}

// openPage begins the report, so that a file that cannot be written is known before there
// is something to be lost.
func (g *gateOutput) openPage(e *env) (err error) {
	if g.html != "" {
		g.page, err = e.create(g.html)
	}
	return err
}

var errAbandoned = errors.New("abandoned")

// abandon ends a report that nothing came of.
func (g *gateOutput) abandon() {
	if g.page != nil {
		_ = g.page.finish(errAbandoned) // the caller has another error
	}
}

// write writes the report, if one is wanted.
func (g *gateOutput) write(p gatereport.Page) error {
	if g.page == nil {
		return nil
	}
	page := g.page
	g.page = nil
	return page.finish(p.HTML(page))
}

// tell prints the summary as was asked for, also if the report fails.
func (g *gateOutput) tell(w io.Writer, s gatereport.Summary) error {
	failed := g.write(gatereport.Page{Summary: s})
	switch {
	case g.json:
		return errors.Join(failed, printJSON(w, s))
	case g.quiet:
		return failed
	}
	return errors.Join(failed, s.Text(w))
}

// warn prints what the summary does not tell and a user may not expect.
func (e *env) warn(s *gateSession, g *gateFlags) {
	if g.Window > 0 && s.timeless > 0 {
		e.say("--window: packets without a time, of which there are %d, count as if all came at once: their strikes count for ever", s.timeless)
	}
	if n := s.recorder.Omitted(); n > 0 && !s.answers && s.check == nil {
		e.say("--json: %d answers beyond the first %d are not in it: leave out --json to see all", n, gatereport.MaxQueries)
	}
	if g.Patterns == nil {
		return
	}
	e.warnOfRules(g)
	if n := textPatterns(g.Patterns); n > 0 && s.words > 0 {
		e.say("--patterns: %d of them are text, which packets of words are not searched for", n)
	}
	var names []string
	all := g.Patterns.Patterns()
	for _, i := range g.Patterns.Shadowed() {
		names = append(names, all[i].Name)
	}
	if n := len(names); n > 0 {
		const shown = 5
		text := strings.Join(names[:min(n, shown)], ", ")
		if n > shown {
			text += ", …"
		}
		e.say("--patterns: %d of them can never complete, as another one does before: %s", n, text)
	}
}

// warnOfRules tells how many rules are not looked for.
func (e *env) warnOfRules(g *gateFlags) {
	if g.left > 0 {
		e.say("--patterns: %d rules have no content of four bytes or more, or let packets pass: they are left out", g.left)
	}
}

// textPatterns returns how many patterns are not of words.
func textPatterns(a *pattern.Automaton) (n int) {
	for _, p := range a.Patterns() {
		if len(p.Words) == 0 {
			n++
		}
	}
	return n
}
