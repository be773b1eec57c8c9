package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/internal/effort"
)

var gallery = flag.String("gallery", "", "write the sample pictures to this folder, to look at them")

func points(n int, f func(i float64) Point) []Point {
	out := make([]Point, n)
	for i := range out {
		out[i] = f(float64(i))
	}
	return out
}

// samples has every style, scale and difficulty.
var samples = []Plot{
	{
		Name: "log-log", Title: "Measured points over a formula, three decades",
		X: Axis{Label: "asked rate", Log: true, Percent: true}, Y: Axis{Label: "false positives", Log: true, Percent: true},
		Series: []Series{
			{Name: "formula", Style: Dashed, Points: points(5, func(i float64) Point { return Point{X: math.Pow(10, -i), Y: math.Pow(10, -i)} })},
			{Name: "measured", Style: Dots, Points: points(5, func(i float64) Point {
				y := math.Pow(10, -i) * 0.8
				return Point{X: math.Pow(10, -i), Y: y, Lo: max(0, y-0.00008), Hi: y + 0.00008}
			})},
		},
	},
	{
		Name: "many", Title: "Nine lines that end close together",
		X: Axis{Label: "keys", Log: true}, Y: Axis{Label: "bits per key"},
		Series: func() (all []Series) {
			for i := range 9 {
				all = append(all, Series{
					Name: strings.TrimSpace(strings.Repeat("a name ", 1+i%3)), Style: []Style{Line, LinePoints}[i%2],
					Points: points(8, func(x float64) Point {
						return Point{X: 1000 * math.Pow(10, x), Y: 9.6 + float64(i)*0.03*x}
					}),
				})
			}
			return all
		}(),
	},
	{
		Name: "names", Title: "Dots of two sorts with long names and error bars",
		X: Axis{Names: []string{"standard", "counting", "dynamic, counting units", "scalable", "elastic", "evergreen"}},
		Y: Axis{Label: "ns per query"},
		Series: []Series{
			{Name: "present", Style: Dots, Points: points(6, func(i float64) Point { return Point{X: i, Y: 20 + i*i, Lo: 17 + i*i, Hi: 23 + i*i} })},
			{Name: "absent", Style: Dots, Points: points(6, func(i float64) Point { return Point{X: i, Y: 10 + 2*i} })},
		},
	},
	{
		Name: "interval", Title: "Intervals, and a narrow range",
		X: Axis{Label: "deleted keys"}, Y: Axis{Label: "deletable", Percent: true},
		Series: []Series{
			{Name: "with interval", Points: points(20, func(i float64) Point {
				y := 0.9 - i*i/800
				return Point{X: i * 1000, Y: y, Lo: y - 0.03, Hi: y + 0.03}
			})},
			{Name: "in steps", Points: points(20, func(i float64) Point { return Point{X: i * 1000, Y: 0.8 - math.Floor(i/4)/20} })},
			{Name: "theory of the first", Style: Dashed, Color: 1, Points: points(20, func(i float64) Point { return Point{X: i * 1000, Y: 0.91 - i*i/800} })},
		},
	},
	{
		Name: "flat", Title: "One flat series on a logarithmic axis, with a heading that is so long that it needs a second line to be read as a whole",
		X:      Axis{Label: "round"},
		Y:      Axis{Label: "rate", Log: true},
		Series: []Series{{Name: "only", Style: Dots, Points: points(7, func(i float64) Point { return Point{X: i, Y: 0.00149} })}},
	},
	{
		Name: "tiny", Title: "Twelve decades, and a range of its own",
		X: Axis{Label: "load", Min: 0, Max: 8}, Y: Axis{Label: "share of buckets", Log: true},
		Series: []Series{
			{Name: "seen", Style: Dots, Points: points(9, func(i float64) Point { return Point{X: i, Y: math.Pow(10, -1.5*i)} })},
			{Name: "asked", Points: points(9, func(i float64) Point { return Point{X: i, Y: math.Pow(10, -1.4*i)} })},
		},
	},
}

// wellFormed fails for anything that is not XML.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
	}
}

func TestPlotsAreWellFormedAndNameEverySeries(t *testing.T) {
	for _, p := range samples {
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		svg, err := SVG(p)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, svg)
		if *gallery != "" {
			if err := os.WriteFile(filepath.Join(*gallery, p.Name+".svg"), svg, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range p.Series {
			if named := bytes.Contains(svg, []byte(">"+s.Name+"<")); named != (len(p.Series) > 1) {
				t.Errorf("%s: %q named: %t", p.Name, s.Name, named)
			}
		}
	}
}

// Pictures must be readable on light and on dark pages, so nothing but data may
// have a fixed colour, and there is no background.
func TestOnlyDataHasFixedColours(t *testing.T) {
	fixed := map[string]bool{"#000000": false}
	for _, c := range palette[:len(palette)-1] {
		fixed[hex(c)] = true
	}
	use := regexp.MustCompile(`(?:fill|stroke):(#[0-9A-Fa-f]{6})`)
	for _, p := range samples {
		svg, err := SVG(p)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(svg), "</style>")
		for _, m := range use.FindAllStringSubmatch(body, -1) {
			if !fixed[m[1]] {
				t.Errorf("%s: fixed colour %s", p.Name, m[1])
			}
		}
		if strings.Contains(body, "NaN") || strings.Contains(body, "Inf") {
			t.Errorf("%s: a coordinate is no number", p.Name)
		}
	}
}

// No coordinate may lie outside the picture, where it could not be seen.
func TestEverythingIsInsideThePicture(t *testing.T) {
	coordinate := regexp.MustCompile(`[ML](-?[0-9.e+-]+),(-?[0-9.e+-]+)`)
	for _, p := range samples {
		svg, err := SVG(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range coordinate.FindAllStringSubmatch(string(svg), -1) {
			x, y := number(t, m[1]), number(t, m[2])
			if x < 0 || x > width || y < 0 || y > height {
				t.Errorf("%s: %s is outside", p.Name, m[0])
			}
		}
	}
}

func TestEqualPlotsGiveEqualBytes(t *testing.T) {
	a, _ := SVG(samples[1])
	b, _ := SVG(samples[1])
	if !bytes.Equal(a, b) {
		t.Error("two drawings of one plot differ")
	}
}

func TestPictureHasTitleAndSheet(t *testing.T) {
	p := samples[0]
	p.Title = "a < b"
	svg, err := SVG(p)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, svg)
	for _, part := range []string{"<title>a &lt; b</title>", "prefers-color-scheme:dark", `role="img">`} {
		if !bytes.Contains(svg, []byte(part)) {
			t.Errorf("no %s in %s", part, svg)
		}
	}
}

func TestPNGHasAllPanelsOnWhite(t *testing.T) {
	effort.OneGoroutine(t)
	picture, err := PanelsPNG(2, samples[:3]...)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	if size.X != 2*width*150/72 || size.Y != 2*height*150/72 {
		t.Errorf("size %v of two rows of two", size)
	}
	if r, g, b, a := img.At(1, 1).RGBA(); r&g&b&a != 0xffff {
		t.Error("the ground is not white")
	}
	if r, g, b, _ := img.At(size.X*3/4, size.Y*3/4).RGBA(); r&g&b != 0xffff {
		t.Error("something is drawn where no panel is")
	}
}
