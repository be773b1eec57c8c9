package console

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/everbloom-go/everbloom/internal/quantity"
)

// A heatMap is a picture of how full the parts of a filter are.
type heatMap struct {
	kind  string
	fills []float64
}

const (
	heatWidth  = 64 // squares in a row
	heatCells  = 8 * heatWidth
	heatShades = 8
)

func newHeatMap(kind string, fills []float64) heatMap { return heatMap{kind, fills} }

// Note says what there is to see.
func (h heatMap) Note() string {
	parts := map[string]string{
		"perennial": "cache lines", "dleft": "buckets", "counting": "words of counters", "partition": "units of the tree",
		"scalable": "blocks, those of the oldest filter first", "bloom": "cache lines",
	}[h.kind]
	switch {
	case len(h.fills) == 0 && h.kind == "evergreen":
		return "up to 512 keys are a list: there are no bits yet, and no false positives"
	case len(h.fills) == 0:
		return "there are no parts to show"
	case parts == "":
		parts = "blocks of 512 bits"
	}
	low, high := h.limits()
	return fmt.Sprintf("%s in the order of memory; %s to %s full", parts, share(low), share(high))
}

// share writes a part of a whole.
func share(x float64) string { return quantity.Short(100*x) + " %" }

func (h heatMap) limits() (low, high float64) {
	low = 1
	for _, f := range h.fills {
		low, high = min(low, f), max(high, f)
	}
	return low, high
}

// Figure returns the picture as a part of a page: a path for each shade.
func (h heatMap) Figure() template.HTML {
	if len(h.fills) == 0 {
		return ""
	}
	_, high := h.limits()
	var paths [heatShades]strings.Builder
	for i, f := range h.fills {
		shade := 0
		if high > 0 {
			shade = min(int(f/high*heatShades), heatShades-1)
		}
		fmt.Fprintf(&paths[shade], "M%d %d.5h.9", i%heatWidth, i/heatWidth)
	}
	var b strings.Builder
	rows := (len(h.fills) + heatWidth - 1) / heatWidth
	fmt.Fprintf(&b, `<svg class="heat" viewBox="0 0 %d %d" role="img" aria-label="How full the parts are: %s">`, min(heatWidth, len(h.fills)), rows, esc(h.Note()))
	for shade := range paths {
		if paths[shade].Len() > 0 {
			fmt.Fprintf(&b, `<path class="h%d" d="%s"/>`, shade, paths[shade].String())
		}
	}
	b.WriteString(`</svg>`)
	legend(&b, high)
	return template.HTML(b.String()) // every text in it was escaped
}

// legend adds the shades and what they mean, the strongest for the fullest part.
func legend(b *strings.Builder, high float64) {
	b.WriteString(`<p class="legend">empty <svg class="shades" viewBox="0 0 8 1" preserveAspectRatio="none" aria-hidden="true">`)
	for shade := range heatShades {
		fmt.Fprintf(b, `<path class="h%d" d="M%d .5h1"/>`, shade, shade)
	}
	fmt.Fprintf(b, `</svg> %s full</p>`, share(high))
}
