package draw

import (
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette is the one of Okabe and Ito without its yellow, which is too pale for
// lines, and with the neutral colour of text in place of black.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // green
	{0xCC, 0x79, 0xA7, 0xFF}, // purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky
	ink,
}

// The neutral colours are placeholders that restyle replaces by classes, so no
// other colour may equal them. Where no style sheet is read they are seen as they
// are, greys for any background.
var (
	ink     = color.NRGBA{0x76, 0x76, 0x77, 0xFF}
	axisInk = color.NRGBA{0x88, 0x88, 0x89, 0xFF}
	gridInk = color.NRGBA{0xA8, 0xA8, 0xA9, 0xFF}
)

// glyphs go with the colours.
var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{},
}

// Sizes, in points.
const (
	headSize  = 12
	labelSize = 10
	tickSize  = 9
	glyphSize = 2.6

	printedSize = 5.5 // of numbers in print

	lineWidth = 1.7
	thin      = 0.7
	gap       = 6
)

var (
	dashes    = []vg.Length{6, 3}
	dots      = []vg.Length{1.5, 1.5} // lines of the palette's second round
	gridStyle = draw.LineStyle{Color: gridInk, Width: thin / 2}
)

func textStyle(size font.Length) text.Style {
	return text.Style{
		Color: ink, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns an empty plot in the common style.
func newPlot() *plot.Plot {
	out := plot.New()
	out.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&out.X, &out.Y} {
		axis.Tick.Label.Font, axis.Tick.Label.Color = textStyle(tickSize).Font, ink
		axis.LineStyle = draw.LineStyle{Color: axisInk, Width: thin}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length = 4
		axis.Padding = 0
	}
	return out
}

// gridLines has no vertical lines between names.
func gridLines(p Plot) *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical, g.Horizontal = gridStyle, gridStyle
	if len(p.X.Names) > 0 {
		g.Vertical.Color = nil
	}
	return g
}

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
func restyle(title, svg string) []byte {
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
	// The title is for screen readers.
	return []byte(svgStart.ReplaceAllStringFunc(svg[strings.Index(svg, "<svg"):], func(start string) string {
		return strings.TrimSuffix(start, ">") + ` role="img">` + "\n<title>" + html.EscapeString(title) + "</title>\n<style>" + sheet + "</style>"
	}))
}

// wrap breaks words into lines of at most that width; a word that is longer has a
// line of its own.
func wrap(style text.Style, words string, room vg.Length) []string {
	var lines []string
	for word := range strings.FieldsSeq(words) {
		if last := len(lines) - 1; last >= 0 && style.Width(lines[last]+" "+word) <= room {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// shorten cuts words to that width, visibly.
func shorten(style text.Style, words string, room vg.Length) string {
	if style.Width(words) <= room {
		return words
	}
	for words != "" && style.Width(words+"…") > room {
		_, size := utf8.DecodeLastRuneInString(words)
		words = words[:len(words)-size]
	}
	return strings.TrimSpace(words) + "…"
}
