package report

import (
	_ "embed" // the page
	"io"
	"path"
	"strings"
	"text/template"

	"github.com/everbloom-go/everbloom/internal/lab/runner"

	"github.com/everbloom-go/everbloom/internal/fault"
)

//go:embed page.md
var markdownText string

// WriteMarkdown writes the page for places that show Markdown. Pictures and tables
// are the files of the results: folder is where those are, seen from the page.
func WriteMarkdown(w io.Writer, outcomes []runner.Outcome, folder string) error {
	p, err := newPage(outcomes)
	if err != nil {
		return err
	}
	page, err := template.New("page").Funcs(template.FuncMap{
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
