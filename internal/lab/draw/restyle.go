package draw

import (
	"errors"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"
)

// sheet gives the classes their colours, on light and on dark pages.
var sheet = func() string {
	var b strings.Builder
	rule := func(name, value string) {
		_, _ = fmt.Fprintf(&b, ".eb-fill-%s{fill:%s}.eb-stroke-%s{stroke:%s}", name, value, name, value)
	}
	for i, c := range palette[:len(palette)-1] {
		rule(fmt.Sprint(i+1), hex(c))
	}
	neutral := func(inkValue, axisValue, gridValue string) {
		rule("ink", inkValue)
		rule(fmt.Sprint(len(palette)), inkValue)
		rule("axis", axisValue)
		rule("grid", gridValue)
	}
	neutral("#24292f", "#6e7781", "#d8dee4")
	b.WriteString("@media (prefers-color-scheme:dark){")
	neutral("#e6edf3", "#8b949e", "#30363d")
	b.WriteString("}")
	return b.String()
}()

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// classes maps the placeholders to the names of their classes.
var classes = map[string]string{hex(ink): "ink", hex(axisInk): "axis", hex(gridInk): "grid"}

var (
	styleAttr = regexp.MustCompile(`style="([^"]*)"`)
	colored   = regexp.MustCompile(`(fill|stroke):(#[0-9A-F]{6})(;|$)`)
	svgStart  = regexp.MustCompile(`<svg\b[^>]*>`)
)

// fonts have the widths that the layout was computed with, but for the last.
const fonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

// restyle replaces neutral colours by classes, with the grey as what is seen
// without the style sheet: an attribute, which a class overrides.
func restyle(title, svg string) ([]byte, error) {
	svg = strings.ReplaceAll(svg, "font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal", fonts)
	svg = styleAttr.ReplaceAllStringFunc(svg, func(attr string) string {
		extra := ""
		attr = colored.ReplaceAllStringFunc(attr[:len(attr)-1], func(decl string) string {
			m := colored.FindStringSubmatch(decl)
			value := m[2]
			class, ok := classes[value]
			if !ok {
				return m[1] + ":" + value + m[3]
			}
			extra += fmt.Sprintf(` class="eb-%s-%s" %s="%s"`, m[1], class, m[1], value)
			return ""
		}) + `"`
		return attr + extra
	})
	return Drawing(title, svg)
}

// Drawing makes a stored picture of an SVG element: with a title for screen
// readers and with the style sheet.
func Drawing(title, svg string) ([]byte, error) {
	at := svgStart.FindStringIndex(svg)
	if at == nil {
		return nil, errors.New("draw: the drawing has no svg element")
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(svg[at[0]:at[1]], ">"))
	b.WriteString(` role="img">` + "\n<title>" + html.EscapeString(title) + "</title>\n<style>" + sheet + "</style>")
	b.WriteString(svg[at[1]:])
	return []byte(b.String()), nil
}
