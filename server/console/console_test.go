package console

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestRingKeepsMeansAndTheLast(t *testing.T) {
	var tr track
	for i := range 3*600 + 7 {
		tr.add(int64(i), float64(i), -float64(i))
	}
	fine, minutes := tr.rings[0].values(1), tr.rings[1].values(0)
	if len(fine) != 600 || fine[0] != -1207 || fine[599] != -1806 {
		t.Error(len(fine), fine[0], fine[len(fine)-1])
	}
	if len(minutes) != 30 || minutes[0] != 29.5 || minutes[29] != 1769.5 {
		t.Error(len(minutes), minutes)
	}
	if hours := tr.rings[2].values(0); len(hours) != 0 {
		t.Error(hours)
	}
}

// TestGapsAreShown has a process that was suspended: the line breaks off, the axis has the time
// that has passed, and means are those of the values that are there.
func TestGapsAreShown(t *testing.T) {
	var tr track
	for _, second := range []int64{0, 1, 4, 5, 106, 107} { // 2 and 3 are late, 6 to 105 a gap
		tr.add(second, float64(second))
	}
	fine := tr.rings[0].values(0)
	if len(fine) != 108 || fine[2] != 4 || fine[3] != 4 || fine[5] != 5 || !math.IsNaN(fine[6]) || !math.IsNaN(fine[105]) || fine[106] != 106 {
		t.Error(len(fine), fine)
	}
	if minutes := tr.rings[1].values(0); len(minutes) != 1 || minutes[0] != 3 {
		t.Error(minutes)
	}
	html := string(overTime("x", spans()[0], perSecond, []string{""}, fine).Figure())
	if _, line, _ := strings.Cut(html, `class="line c1"`); strings.Count(line, "M") != 2 || strings.Contains(html, "NaN") || !strings.Contains(html, "107") {
		t.Error(html)
	}
	tr.add(1e9, 7)
	for i, want := range []int{600, 1440, 720} {
		values := tr.rings[i].values(0)
		if last := values[len(values)-1]; len(values) != want || !math.IsNaN(values[0]) || i == 0 && last != 7 || i > 0 && !math.IsNaN(last) {
			t.Error(i, len(values), values[0], last)
		}
	}
	if got := overTime("x", spans()[0], perSecond, []string{""}, []float64{1, math.NaN(), 3, math.NaN()}); got.Y.Max != 3 || strings.Count(string(got.Figure()), "h1") != 2 {
		t.Error(got.Y.Max, got.Figure())
	}
}

// TestClockCountsSuspendedTime, and is not disturbed by ticks that are early or late.
func TestClockCountsSuspendedTime(t *testing.T) {
	var c secondCount
	began := time.Now()
	for _, step := range []struct {
		after time.Duration
		want  int64
	}{{0, 1}, {900 * time.Millisecond, 2}, {2100 * time.Millisecond, 3}, {4 * time.Second, 4}, {time.Hour, 3600}, {time.Minute, 3601}, {3605 * time.Second, 3605}} {
		if got := c.tick(began.Add(step.after)); got != step.want {
			t.Errorf("after %v: %d, want %d", step.after, got, step.want)
		}
	}
}

func TestThinKeepsPeaks(t *testing.T) {
	ys := make([]float64, 601)
	ys[123] = 9
	xs, out := thin(ys)
	peaks := 0
	for _, y := range out {
		if y == 9 {
			peaks++
		}
	}
	if peaks != 1 || len(xs) != len(out) || len(out) > maxPoints || xs[len(xs)-1] != 0 {
		t.Error(peaks, len(xs), len(out), xs)
	}
}

func TestChartIsInsideItsArea(t *testing.T) {
	for _, values := range [][]float64{nil, {0}, {5}, {math.Inf(1), 1}, {math.NaN()}, {1e300, 1e-300}} {
		c := overTime("<Title>", spans()[0], perSecond, []string{"<a>", "b"}, values, []float64{1, 2})
		html := string(c.Figure())
		if strings.Contains(html, "<a>") || strings.Contains(html, "<Title>") || strings.Contains(html, "NaN") && !math.IsNaN(append(values, 0)[0]) {
			t.Errorf("%v: %s", values, html)
		}
	}
	log := axis{Log: true, Min: 1e-4, Max: 1}
	for v, want := range map[float64]float64{0: 0, 1e-4: 0, 1e-2: 0.5, 1: 1, 5: 1} {
		if got := log.place(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g lies at %g, want %g", v, got, want)
		}
	}
	if got := niceMax(niceMax(1000, 2), 2); got != 1024 {
		t.Error(got)
	}
	for v, want := range map[float64]float64{0: 1, 1: 1, 1.1: 2, 5: 6, 7: 9, 99: 100, 1000: 1000, math.Inf(1): 1} {
		if got := niceMax(v, 10); math.Abs(got-want) > 1e-9*want {
			t.Errorf("niceMax(%g) = %g, want %g", v, got, want)
		}
	}
}

func TestCommandLinesCanBeTyped(t *testing.T) {
	for want, words := range map[string][]string{
		`EB.ADD a b`:                       {"EB.ADD", "a", "b"},
		`EB.ADD "a b" "\"" "\\" ""`:        {"EB.ADD", "a b", `"`, `\`, ""},
		`EB.ADD "\xff\x00" "\xc3\xbc\x0a"`: {"EB.ADD", "\xff\x00", "ü\n"},
		`EB.ADD ü`:                         {"EB.ADD", "ü"},
	} {
		if got := commandLine(words); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := commandLine(make([]string, 20)); !strings.HasSuffix(got, "… (8 more)") {
		t.Error(got)
	}
}

func TestOwnPath(t *testing.T) {
	for to, want := range map[string]string{
		"":                         "/console/",
		"/console/sets?by=keys":    "/console/sets?by=keys",
		"//elsewhere.example/":     "/console/",
		"/metrics":                 "/console/",
		"/console/live/":           "/console/",
		`/console/\elsewhere`:      "/console/",
		"http://elsewhere.example": "/console/",
	} {
		if got := ownPath(to); got != want {
			t.Errorf("%s leads to %s, want %s", to, got, want)
		}
	}
}

// TestSecondsHaveThreeDigits at the ends of the units, where rounding adds one.
func TestSecondsHaveThreeDigits(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 25e-6: "25 µs", 0.9996e-3: "1.00 ms", 0.9996: "1.00 s", 59.94: "59.9 s"} {
		if got := inSeconds(x); got != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
}

func TestWordsForNewcomers(t *testing.T) {
	for p, want := range map[float64]string{0: "0 %", 1: "100 %", 0.01: "1 %", 1e-4: "0.01 %", 9.8e-5: "0.0098 %", 0.012345: "1.23 %", 1.239e-7: "0.0000124 %", 1e-300: "0 %", 0.9999: "100 %", 0.1: "10 %"} {
		if got := rateText(p); got != want {
			t.Errorf("%g is %s, want %s", p, got, want)
		}
	}
	for p, want := range map[float64]string{0: "0 %", 1e-9: "< 0.001 %", 1e-5: "0.001 %", 0.02: "2 %"} {
		if got := rateBeside(p, 0.01); got != want {
			t.Errorf("%g beside 1 %% is %s, want %s", p, got, want)
		}
	}
	for bits, want := range map[float64]string{9.64: "9.6", 99.9: "99.9", 26443.2: "26,443"} {
		if got := bitsText(bits); got != want {
			t.Errorf("%g is %s, want %s", bits, got, want)
		}
	}
	if c := rateChart(spans()[0], []float64{0, 2e-17}, 0.01); c.Note != "< 0.001 %" || c.Y.Max < 1e-5*0.99 || c.Y.Max > 2e-5 {
		t.Error(c.Note, c.Y.Max)
	}
	for d, want := range map[time.Duration]string{0: "< 1 s", 4600 * time.Millisecond: "4 s", time.Hour + time.Second: "1 h"} {
		if got := ago(time.Now().Add(-d)); got != want {
			t.Errorf("%v ago is %s, want %s", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		90 * time.Second: "1 min 30 s", time.Minute: "1 min", time.Hour: "1 h", 47*time.Hour + time.Minute: "47 h 1 min",
		48 * time.Hour: "2 days", 51 * time.Hour: "2 days 3 h", 1200 * time.Hour: "50 days",
	} {
		if got := duration(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
	for n, want := range map[any]string{0: "sets", 1: "set", uint64(1): "set", int64(2): "sets"} {
		if got := plural(n, "set", "sets"); got != want {
			t.Errorf("%v %s", n, got)
		}
	}
	heat := string(newHeatMap("bloom", []float64{0.5, 0.25}).Figure())
	if strings.Count(heat, `class="h`) != 1+2+heatShades || !strings.Contains(heat, "50.0 % full") && !strings.Contains(heat, "50 % full") {
		t.Error(heat)
	}
}
