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
	_ "embed" // the pages
	"html/template"
	"io"
	"path"
	"slices"
	"strings"
	plain "text/template"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.md
	markdownText string
)

// Write writes the page. The outcomes are in the order of the catalog.
func Write(w io.Writer, outcomes []store.Outcome) error {
	return newPage(outcomes).execute(w, template.Must(template.New("page").Funcs(template.FuncMap{
		"svg": func(p lab.Plot) (template.HTML, error) {
			svg, err := draw.SVG(p)
			return template.HTML(svg), err // draw makes nothing else of it
		},
	}).Parse(pageText)))
}

// WriteMarkdown writes the page for places that show Markdown. Pictures and tables
// are the files of the results: folder is where those are, seen from the page.
func WriteMarkdown(w io.Writer, outcomes []store.Outcome, folder string) error {
	return newPage(outcomes).execute(w, plain.Must(plain.New("page").Funcs(plain.FuncMap{
		"text":  plainText.Replace,
		"title": func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"file":  func(id, name, ext string) string { return path.Join(folder, id, name+"."+ext) },
	}).Parse(markdownText)))
}

// plainText keeps what Markdown would take for its own, and rows of tables on one
// line.
var plainText = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "[", `\[`, "]", `\]`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "\r", " ", "\n", " ",
)

// page is what the templates show.
type page struct {
	Kinds    []kindCount // of checks
	Marks    []mark      // what the marks mean
	Topics   []topic
	Machines []string
	Commits  []string
}

func (p *page) execute(w io.Writer, t interface{ Execute(io.Writer, any) error }) error {
	if err := t.Execute(w, p); err != nil {
		return fault.In("report", "%w", err)
	}
	return nil
}

// kindCount is what was found of one kind of checks, by outcome.
type kindCount struct {
	kind   lab.Kind
	Means  string
	Counts []count
}

type count struct {
	Mark   mark
	Checks []checkRow
}

// Text is how many there are.
func (c count) Text() string { return lab.Counted(len(c.Checks), c.Mark.Word) }

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
	Checks []checkRow
}

type checkRow struct {
	lab.Check
	Mark       mark
	ID, Anchor string // of the experiment
}

func newPage(outcomes []store.Outcome) *page {
	p := &page{Marks: marks}
	var all []checkRow
	for _, o := range outcomes {
		s := newSection(o)
		p.add(s)
		all = append(all, s.Checks...)
		if o.Record == nil {
			all = append(all, checkRow{lab.Check{Name: s.Title, Reason: s.Error}, s.Mark, s.ID, s.Anchor})
			continue
		}
		p.Machines = append(p.Machines, o.Record.Origin.String())
		p.Commits = append(p.Commits, o.Record.Origin.Commit)
	}
	p.Machines, p.Commits = distinct(p.Machines), distinct(p.Commits)
	for _, k := range []kindCount{
		{kind: lab.Paper, Means: "what the papers print"},
		{kind: lab.Erratum, Means: "errors in print, which no run can change"},
		{kind: lab.Own, Means: "what this project states"},
		{kind: lab.Question, Means: "what the papers leave open"},
		{kind: "", Means: "experiments without a result"},
	} {
		for _, m := range marks {
			rows := slices.DeleteFunc(slices.Clone(all), func(row checkRow) bool { return row.Kind != k.kind || row.Mark != m })
			if len(rows) > 0 {
				k.Counts = append(k.Counts, count{m, rows})
			}
		}
		if len(k.Counts) > 0 {
			p.Kinds = append(p.Kinds, k)
		}
	}
	return p
}

// add puts a section into its topic, the topics in the order of their first sections.
func (p *page) add(s section) {
	i := slices.IndexFunc(p.Topics, func(t topic) bool { return t.Name == s.Topic() })
	if i < 0 {
		i = len(p.Topics)
		p.Topics = append(p.Topics, topic{Name: s.Topic()})
	}
	p.Topics[i].Sections = append(p.Topics[i].Sections, s)
}

func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

func newSection(o store.Outcome) section {
	s := section{
		Experiment: o.Experiment, Record: o.Record, Mark: markOf(o),
		Anchor: strings.ReplaceAll(o.Experiment.ID, "/", "-"),
	}
	if o.Err != nil {
		s.Error = o.Err.Error()
	}
	for _, c := range checks(o) {
		s.Checks = append(s.Checks, checkRow{c, checkMark(c), s.ID, s.Anchor})
	}
	if o.Record != nil {
		s.Tally = Tally(o)
	}
	return s
}

// Has names the verdicts of the section, for the filter of the page.
func (s section) Has() string {
	classes := []string{"with-" + s.Mark.Class}
	for _, c := range s.Checks {
		classes = append(classes, "with-"+c.Mark.Class)
	}
	return strings.Join(distinct(classes), " ")
}

// Has names the verdicts of all sections.
func (t topic) Has() string {
	var classes []string
	for _, s := range t.Sections {
		classes = append(classes, strings.Fields(s.Has())...)
	}
	return strings.Join(distinct(classes), " ")
}

// Tally counts the checks of outcomes by kind, in words.
func Tally(outcomes ...store.Outcome) string {
	var all []lab.Check
	for _, o := range outcomes {
		all = append(all, checks(o)...)
	}
	return lab.Tally(all)
}

// checks are those of an outcome, none if it has no result.
func checks(o store.Outcome) (list []lab.Check) {
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
	Bad                        bool // what a reader looks for first
}

// marks are in the order from good to bad.
var marks = []mark{
	{"reproduced", "✓", "reproduced", "what the paper prints, within the tolerance", false},
	{"holds", "✓", "holds", "what this project states, within the tolerance", false},
	{"answered", "◆", "answered", "a question that the paper leaves open", false},
	{"shown", "○", "shown", "nothing is printed to compare with, or too little was measured to tell", false},
	{"erratum", "✎", "erratum", "an error in print that no run can change; the reason is given", true},
	{"differs", "≠", "differs", "not what the paper prints; the reason is given", true},
	{"fails", "≠", "fails", "not what this project states; the reason is given", true},
	{"unexplained", "≠!", "unexplained", "expected otherwise, and without a reason", true},
	{"missing", "–", "not run", "there is no result", true},
	{"failed", "✗", "failed", "the experiment ended with an error", true},
}

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
func markOf(o store.Outcome) mark {
	switch {
	case o.Err != nil:
		return markCalled("failed")
	case o.Record == nil:
		return markCalled("missing")
	}
	worst := markCalled("shown")
	for _, c := range checks(o) {
		if m := checkMark(c); c.Verdict != lab.Shown && (worst.Class == "shown" || slices.Index(marks, m) > slices.Index(marks, worst)) {
			worst = m
		}
	}
	return worst
}
