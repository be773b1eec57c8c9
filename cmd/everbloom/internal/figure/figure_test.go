package figure

import (
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/effort"
	"github.com/everbloom-go/everbloom/internal/kinds"
)

// flat needs the same memory and keeps the same rate for any number of keys.
var flat = Curve{"flat", func(c kinds.Config, _ uint64) (filter.Prediction, error) {
	return filter.Prediction{FastBitsPerKey: 12, FPR: c.FPR}, nil
}}

// never errs, which a logarithmic axis cannot show.
var never = Curve{"never", func(kinds.Config, uint64) (filter.Prediction, error) {
	return filter.Prediction{SlowBitsPerKey: 64}, nil
}}

// limited cannot hold more keys than asked for.
var limited = Curve{"limited", func(c kinds.Config, n uint64) (filter.Prediction, error) {
	if n > c.Items {
		return filter.Prediction{}, errors.New("full")
	}
	return filter.Prediction{FastBitsPerKey: 100, FPR: 0.5}, nil
}}

// tableCurves are those of the kinds. The predictions of some take long.
func tableCurves() []Curve {
	var all []Curve
	for _, k := range kinds.All() {
		if effort.Long() || k.Name == "bloom" || k.Name == "blocked" || k.Name == "evergreen" {
			all = append(all, Curve{k.Name, k.Predict})
		}
	}
	return append(all, flat, never, limited)
}

// draw draws into a new file and returns it opened.
func drawFile(t *testing.T, name string, items uint64, rate float64, curves []Curve) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := Draw(path, items, rate, curves); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestSVGIsWellFormedAndNamesEverything(t *testing.T) {
	for _, c := range []struct {
		items uint64
		rate  float64
	}{{1_000_000, 0.01}, {1, 0.5}, {50, 1e-7}, {1 << 40, 0.001}} {
		text, err := io.ReadAll(drawFile(t, "plan.svg", c.items, c.rate, tableCurves()))
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(text, new(struct{})); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		for _, want := range []string{"bloom", "blocked", "flat", "asked rate", "asked keys", "false positives", "bits per key", "keys in the set"} {
			if !strings.Contains(string(text), ">"+want+"<") {
				t.Errorf("%+v: no text %q", c, want)
			}
		}
		if strings.Contains(string(text), "NaN") || strings.Contains(string(text), "Inf") {
			t.Errorf("%+v: a coordinate is no number", c)
		}
	}
}

func TestPNGHasWhiteGroundAndAllColours(t *testing.T) {
	curves := tableCurves()
	img, err := png.Decode(drawFile(t, "plan.PNG", 1000, 0.01, curves))
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 1500 || size.Y != 630 {
		t.Errorf("size %v", size)
	}
	dots := image.NewRGBA(img.Bounds())
	draw.Draw(dots, dots.Bounds(), img, img.Bounds().Min, draw.Src)
	seen := map[color.RGBA]int{}
	for pix := range slices.Chunk(dots.Pix, 4) {
		seen[color.RGBA{pix[0], pix[1], pix[2], pix[3]}]++
	}
	if seen[color.RGBA{255, 255, 255, 255}] < 1500*630/2 {
		t.Error("the ground is not white")
	}
	for i := range curves {
		if c := curveStyle(i).Color; seen[c.(color.RGBA)] == 0 {
			t.Errorf("curve %d, colour %v, cannot be seen", i, c)
		}
	}
}

func TestDrawRefuses(t *testing.T) {
	folder := t.TempDir()
	broken := Curve{"broken", func(kinds.Config, uint64) (filter.Prediction, error) {
		return filter.Prediction{}, errors.New("no shape")
	}}
	for _, c := range []struct {
		name   string
		curves []Curve
		want   string
	}{
		{"plan.gif", nil, `figure: the name ends in ".gif": it must end in .svg or .png`},
		{"plan", nil, `figure: the name ends in "": it must end in .svg or .png`},
		{"plan.svg", []Curve{broken}, "figure: broken: no shape"},
		{"plan.svg", nil, "figure: nothing to draw"},
		{"missing/plan.svg", []Curve{flat}, "no such file"},
	} {
		err := Draw(filepath.Join(folder, c.name), 10, 0.1, c.curves)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestCurvesEndWhereTheKindDoes(t *testing.T) {
	f := figure{items: 1000, rate: 0.01}
	if err := f.add(limited); err != nil {
		t.Fatal(err)
	}
	if last := f.rates[0][len(f.rates[0])-1].X; last > 1000 || last < 900 {
		t.Errorf("ends at %g", last)
	}
}

func TestDecadesAreLabelledWithinTheAxis(t *testing.T) {
	labels := func(low, high float64) (all []string) {
		for _, tick := range decades(countLabel).Ticks(low, high) {
			if tick.Value < low || tick.Value > high {
				t.Errorf("%g is outside %g to %g", tick.Value, low, high)
			}
			if tick.Label != "" {
				all = append(all, tick.Label)
			}
		}
		return all
	}
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{1, 1000, []string{"1", "10", "100", "1 k"}},
		{500, 50_000_000, []string{"1 k", "10 k", "100 k", "1 M", "10 M"}},
		{0.5, 20, []string{"1", "10"}},
	} {
		if got := labels(c.low, c.high); !slices.Equal(got, c.want) {
			t.Errorf("%g to %g: %q, want %q", c.low, c.high, got, c.want)
		}
	}
	for _, c := range [][2]float64{{0, 1}, {-1, 1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if got := labels(c[0], c[1]); got != nil {
			t.Errorf("%v: %q", c, got)
		}
	}
	if got := labels(1e-30, 1); len(got) < 4 || len(got) > maxLabels+1 {
		t.Errorf("%d labels on a long axis: %q", len(got), got)
	}
}

func TestRateLabels(t *testing.T) {
	fine, coarse := rateLabels(1e-6), rateLabels(1e-12)
	for _, c := range []struct{ got, want string }{
		{fine(1), "100 %"},
		{fine(0.01), "1 %"},
		{fine(1e-5), "0.001 %"},
		{coarse(1e-5), "1e-05"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestRoomyKeepsTheRangeAndHasTwoDecades(t *testing.T) {
	for _, c := range [][2]float64{{12, 12}, {1, 5}, {1, 1000}} {
		low, high := roomy(c[0], c[1])
		if low >= c[0] || high <= c[1] || math.Log10(high/low) < 2 {
			t.Errorf("%v becomes %g to %g", c, low, high)
		}
	}
}
