package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

//go:embed assets
var assets embed.FS

// A frame is what every page has.
type frame struct {
	Title string
	Page  string // name of its template; NAME-live is its live part
	User  *User  // nil before the login
	Live  string // address of the stream of its live part
	Mark  string // of the assets, which changes when they do
	Open  bool   // no login is needed
	Gate  bool   // there is a gate to show
	Group bool   // the server is one of a cluster
	View  any
}

// pages are the templates and files of the console.
type pages struct {
	templates *template.Template
	mark      string
}

func newPages() *pages {
	sum := sha256.New()
	for _, name := range []string{"style.css", "script.js"} {
		text, _ := assets.ReadFile("assets/" + name) // it is embedded
		_, _ = sum.Write(text)                       // it never fails
	}
	functions := template.FuncMap{
		"count":   func(n uint64) string { return quantity.Count(n) },
		"count64": func(n int64) string { return quantity.Count(uint64(max(n, 0))) },
		"bytes":   func(n int64) string { return quantity.Bytes(float64(n)) },
		"ubytes":  func(n uint64) string { return quantity.Bytes(float64(n)) },
		"short":   func(x float64) string { return quantity.Short(max(x, 0)) },
		"percent": func(x float64) float64 { return 100 * x },
		"sum":     func(a, b float64) float64 { return a + b },
		"rate":    rateText,
		"rateby":  rateBeside,
		"bits":    bitsText,
		"plural":  plural,
		"show":    display,
		"dec":     func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) },
		"ago":     ago,
		"seconds": func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s" },
	}
	return &pages{
		templates: template.Must(template.New("").Funcs(functions).ParseFS(assets, "assets/*.html")),
		mark:      hex.EncodeToString(sum.Sum(nil)[:8]),
	}
}

// static answers with a file of the console.
func (p *pages) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	text, err := assets.ReadFile("assets/" + name)
	kind := mime.TypeByExtension(path.Ext(name))
	if err != nil || path.Ext(name) == ".html" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, max-age=86400")
	_, _ = w.Write(text) // the browser may be gone
}

// render answers with a page. Nothing is sent if it cannot be made.
func (c *Console) render(w http.ResponseWriter, code int, f frame) {
	_, f.Open = c.source.Default()
	f.Mark = c.pages.mark
	f.Group = c.group
	f.Gate = c.gate != nil && f.User != nil && mayWatch(*f.User)
	var page bytes.Buffer
	if err := c.pages.templates.ExecuteTemplate(&page, "frame", f); err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = page.WriteTo(w) // the browser may be gone
}

// A problem is an error with the status of its answer.
type problem struct {
	code int
	text string
}

func (p problem) Error() string { return p.text }

// failed answers with an error.
func (c *Console) failed(w http.ResponseWriter, r *http.Request, err error) {
	p := problem{http.StatusInternalServerError, err.Error()}
	_ = errors.As(err, &p)
	c.fail(w, r, p.code, p.text)
}

// fail answers with a page that has a sentence.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, code int, text string) {
	f := frame{Title: http.StatusText(code), Page: "problem", View: text}
	if u, ok := c.user(r); ok {
		f.User = &u
	}
	c.render(w, code, f)
}
