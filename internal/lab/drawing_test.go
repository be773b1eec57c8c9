package lab

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestDrawingsAreSimple(t *testing.T) {
	for _, drawing := range []string{
		`<svg viewBox="0 0 1 1"></svg>`,
		"\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\" font-family=\"'Liberation Sans',Arial\"><g><rect x=\"1\" class=\"eb-fill-1\"/>" +
			"<text>a &lt; b &#39;c&#39; &gt; d ≤ e</text><path d=\"M1,2 l-4,7 h8 z\" stroke-dasharray=\"4 3\"/></g></svg>\n",
	} {
		if err := checkDrawing(drawing); err != nil {
			t.Errorf("%s: %v", drawing, err)
		}
	}
}

func TestDrawingsCannotRunOrLoadAnything(t *testing.T) {
	within := func(format string) string { return fmt.Sprintf(`<svg viewBox="0 0 1 1">%s</svg>`, format) }
	for _, drawing := range []string{
		"", "no picture", "<p>text</p>", "<svg>", "<svg></svg><svg></svg>", "<svg></svg><script>1</script>", "<svg></svg>after", "before<svg></svg>",
		`<?xml version="1.0"?><svg></svg>`, "<!DOCTYPE svg><svg></svg>", "<svg></svg><!-- -->",
		within("<script>alert(1)</script>"), within("<SCRIPT>alert(1)</SCRIPT>"), within("<foreignObject><p/></foreignObject>"), within("<style>@import 'x'</style>"),
		within(`<image href="http://example.com/x.png"/>`), within(`<a href="http://example.com"><text>x</text></a>`), within(`<use href="#x"/>`), within("<svg/>"), within("<title/>"),
		within(`<animate attributeName="x"/>`), within("<!-- x -->"), within("<![CDATA[<script>]]>"), within("<p>out</p>"),
		within(`<rect onclick="alert(1)"/>`), within(`<rect onload="x"/>`), within(`<rect style="fill:red"/>`), within(`<rect id="x"/>`),
		within(`<rect fill="url(http://example.com/x)"/>`), within(`<rect fill="u\72l(x)"/>`), within(`<rect fill="URL&#40;x)"/>`), within(`<rect class="a>b"/>`),
		within(`<x:script xmlns:x="http://www.w3.org/2000/svg"/>`), within(`<x:rect xmlns:x="http://www.w3.org/1999/xhtml"/>`), within(`<x:rect/>`), within(`<rect xlink:href="x"/>`),
		`<svg xmlns="http://www.w3.org/1999/xhtml"></svg>`, `<svg onload="x"></svg>`, `<svg class="a&gt;b"></svg>`, within("&unknown;"), within("<rect>"), within("\x00"),
	} {
		result := Result{Plots: []Plot{{Name: "a", Drawing: drawing}}}
		if err := result.Check(); err == nil {
			t.Errorf("%s was taken", drawing)
		} else if drawing != "" && !strings.Contains(err.Error(), `plot "a": drawing: `) {
			t.Errorf("%s: %v", drawing, err)
		}
	}
}

// FuzzDrawing: what passes is a tree of known elements to a reader of HTML, too, for
// which every "<" and a letter begins one.
func FuzzDrawing(f *testing.F) {
	for _, seed := range []string{`<svg viewBox="0 0 1 1"><text x="1">a</text></svg>`, `<svg><rect fill="none"/></svg>`, "<svg><script/></svg>", `<svg><g class="<a"/></svg>`} {
		f.Add(seed)
	}
	tag := regexp.MustCompile(`<[^/]`)
	known := regexp.MustCompile(`^<(svg|circle|g|line|path|polygon|polyline|rect|text|tspan)[\s/>]`)
	f.Fuzz(func(t *testing.T, drawing string) {
		if checkDrawing(drawing) != nil {
			return
		}
		for _, at := range tag.FindAllStringIndex(drawing, -1) {
			if !known.MatchString(drawing[at[0]:]) {
				t.Fatalf("%q has %q", drawing, drawing[at[0]:])
			}
		}
	})
}
