// Package report writes the page with all results: one HTML file that needs
// nothing else, no network and no scripts, and is light or dark as the reader's
// system is; or one of Markdown, which shows the files of the results.
//
// An experiment is marked by the worst of its checks. Only one whose checks all
// reproduced, or had nothing to compare with, gets a good mark; one that failed or
// was not run is on the page all the same.
package report

import (
	"cmp"
	_ "embed" // the page
	"html/template"
	"io"
	"path"
	"slices"
	"strings"
	plain "text/template"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/runner"
	"github.com/everbloom-go/everbloom/internal/lab/store"

	"github.com/everbloom-go/everbloom/internal/fault"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes the page. The outcomes are in the order of the catalog.
func Write(w io.Writer, outcomes []runner.Outcome) error {
	p, err := newPage(outcomes)
	if err != nil {
		return err
	}
	if err := pageTemplate.Execute(w, p); err != nil {
		return fault.In("report", "%w", err)
	}
	return nil
}

//go:embed page.md
var markdownText string

// WriteMarkdown writes the page for places that show Markdown. Pictures and tables
// are the files of the results: folder is where those are, seen from the page.
func WriteMarkdown(w io.Writer, outcomes []runner.Outcome, folder string) error {
	p, err := newPage(outcomes)
	if err != nil {
		return err
	}
	page, err := plain.New("page").Funcs(plain.FuncMap{
		"text":  plainText.Replace,
		"title": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"file":  func(id, name, ext string) string { return path.Join(folder, id, name+"."+ext) },
	}).Parse(markdownText)
	if err != nil {
		return fault.In("report", "%w", err)
	}
	if err := page.Execute(w, p); err != nil {
		return fault.In("report", "%w", err)
	}
	return nil
}

// plainText keeps what Markdown would take for its own, and rows of tables on one
// line.
var plainText = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "[", `\[`, "]", `\]`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "\r", " ", "\n", " ",
)

// page is what the template shows.
type page struct {
	Kinds    []kindCount // of checks
	Marks    []mark      // what the marks mean
	Topics   []topic
	Machines []string
	Commits  []string
}

// kindCount is what was found of one kind of checks.
type kindCount struct {
	Means  string
	Counts []count
}

// count is an outcome with the checks that have it.
type count struct {
	Mark   mark
	Checks []checkRow
}

type topic struct {
	Name     string
	Sections []section
}

// section is one experiment.
type section struct {
	lab.Experiment
	Anchor string
	Mark   mark
	Tally  string
	Record *store.Record
	Error  string
	Plots  []picture
	Checks []checkRow
}

type picture struct {
	lab.Plot
	SVG template.HTML
}

type checkRow struct {
	lab.Check
	Mark       mark
	ID, Anchor string // of the experiment
}

func newPage(outcomes []runner.Outcome) (*page, error) {
	p := &page{Marks: marks}
	var all []checkRow
	for _, o := range outcomes {
		s, err := newSection(o)
		if err != nil {
			return nil, fault.In("report", "%s: %w", o.Experiment.ID, err)
		}
		if name := o.Experiment.Topic(); len(p.Topics) == 0 || p.Topics[len(p.Topics)-1].Name != name {
			p.Topics = append(p.Topics, topic{Name: name})
		}
		last := &p.Topics[len(p.Topics)-1]
		last.Sections = append(last.Sections, s)
		all = append(all, s.Checks...)
		if o.Record == nil {
			all = append(all, checkRow{Check: lab.Check{Name: o.Experiment.Title, Reason: s.Error}, Mark: s.Mark, ID: s.ID, Anchor: s.Anchor})
			continue
		}
		p.Machines = append(p.Machines, o.Record.Origin.String())
		p.Commits = append(p.Commits, o.Record.Origin.Commit)
	}
	p.Machines, p.Commits = distinct(p.Machines), distinct(p.Commits)
	for _, kind := range lab.Kinds() {
		p.addKind(kind.Means(), all, kind)
	}
	p.addKind("experiments without a result", all, "")
	return p, nil
}

// addKind counts the checks of a kind by outcome.
func (p *page) addKind(means string, all []checkRow, kind lab.Kind) {
	k := kindCount{Means: means}
	for _, m := range marks {
		c := count{Mark: m}
		for _, row := range all {
			if row.Kind == kind && row.Mark == m {
				c.Checks = append(c.Checks, row)
			}
		}
		if len(c.Checks) > 0 {
			k.Counts = append(k.Counts, c)
		}
	}
	if len(k.Counts) > 0 {
		p.Kinds = append(p.Kinds, k)
	}
}

func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// Has names the verdicts of the section, for the filter of the page.
func (s section) Has() string {
	classes := []string{"with-" + s.Mark.Class}
	for _, c := range s.Checks {
		classes = append(classes, "with-"+c.Mark.Class)
	}
	return strings.Join(distinct(classes), " ")
}

func newSection(o runner.Outcome) (section, error) {
	s := section{
		Experiment: o.Experiment, Record: o.Record, Mark: markOf(o),
		Anchor: strings.ReplaceAll(o.Experiment.ID, "/", "-"),
	}
	if o.Err != nil {
		s.Error = o.Err.Error()
	}
	if o.Record == nil {
		return s, nil
	}
	for _, plot := range o.Record.Result.Plots {
		svg, err := draw.SVG(plot)
		if err != nil {
			return s, err
		}
		s.Plots = append(s.Plots, picture{plot, template.HTML(svg)}) // draw makes nothing else of it
	}
	for _, c := range checks(o) {
		s.Checks = append(s.Checks, checkRow{c, checkMark(c), s.ID, s.Anchor})
	}
	s.Tally = Tally(o)
	return s, nil
}

// Tally counts the checks of outcomes by kind, in words.
func Tally(outcomes ...runner.Outcome) string {
	var all []lab.Check
	for _, o := range outcomes {
		all = append(all, checks(o)...)
	}
	return lab.Tally(all)
}

// checks are those of an outcome, none if it has no result.
func checks(o runner.Outcome) (list []lab.Check) {
	if o.Record == nil {
		return nil
	}
	for _, c := range o.Record.Result.Checks {
		c.Kind = cmp.Or(c.Kind, o.Experiment.Kind())
		list = append(list, c)
	}
	return list
}

// mark is a verdict to look at: a sign and a word, because colours alone do not
// reach every reader.
type mark struct {
	Class, Sign, Word, Meaning string
}

// marks are in the order from good to bad.
var marks = []mark{
	{"reproduced", "✓", "reproduced", "what the paper prints, within the tolerance"},
	{"holds", "✓", "holds", "what this project states, within the tolerance"},
	{"answered", "◆", "answered", "a question that the paper leaves open"},
	{"shown", "○", "shown", "nothing is printed to compare with, or too little was measured to tell"},
	{"erratum", "✎", "erratum", "an error in print that no run can change; the reason is given"},
	{"differs", "≠", "differs", "not what the paper prints; the reason is given"},
	{"fails", "≠", "fails", "not what this project states; the reason is given"},
	{"unexplained", "≠!", "unexplained", "expected otherwise, and without a reason"},
	{"missing", "–", "not run", "there is no result"},
	{"failed", "✗", "failed", "the experiment ended with an error"},
}

// Bad reports whether the mark is what a reader looks for first.
func (m mark) Bad() bool { return slices.Index(marks, m) >= slices.Index(marks, markCalled("erratum")) }

func markCalled(class string) mark {
	return marks[slices.IndexFunc(marks, func(m mark) bool { return m.Class == class })]
}

func checkMark(c lab.Check) mark {
	if c.Unexpected() {
		return markCalled("unexplained")
	}
	return markCalled(c.Word())
}

// markOf is the worst mark of the checks. One that only shows something does not
// count beside others.
func markOf(o runner.Outcome) mark {
	switch {
	case o.Err != nil:
		return markCalled("failed")
	case o.Record == nil:
		return markCalled("missing")
	}
	worst := markCalled(string(lab.Shown))
	for _, c := range checks(o) {
		if m := checkMark(c); c.Verdict != lab.Shown && (worst.Class == "shown" || slices.Index(marks, m) > slices.Index(marks, worst)) {
			worst = m
		}
	}
	return worst
}
