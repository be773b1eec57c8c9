package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// travellers take part in -journey: a set that grows and shrinks. What cannot grow is made
// for ten times the keys of the start, and a cuckoo filter for all of them as well.
var travellers = []traveller{
	{"everbloom perennial", "everbloom perennial", atStart},
	{"everbloom evergreen", "everbloom evergreen", atStart},
	{"everbloom scalable", "everbloom scalable", atStart},
	{"bits-and-blooms", "bits-and-blooms for SIZE", tenfold},
	{"panmari cuckoo 16b", "cuckoo filter for SIZE", tenfold},
	{"panmari cuckoo 16b", "cuckoo filter for SIZE", atTop},
	{"Boom scalable", "Boom scalable", atStart},
	{"go map[uint64]", "Go map", atStart},
}

// A traveller is a contender, its name in the picture, and the keys it is made for.
type traveller struct {
	contender, label string
	made             func(first, last uint64) uint64
}

func atStart(first, _ uint64) uint64 { return first }
func tenfold(first, _ uint64) uint64 { return 10 * first }
func atTop(_, last uint64) uint64    { return last }

// A journey is how one traveller fared.
type journey struct {
	label string
	stops []stop
	end   string // why it did not come back: the last stop is where it stood then
}

// A stop is what was measured after a step.
type stop struct {
	keys uint64
	back bool    // on the way down
	bits float64 // of memory per key
	rate float64 // share of absent keys that were found
}

// runJourney measures all travellers, one after the other, and writes the picture and,
// beside it, the figures.
func runJourney(o options, out *printer) error {
	up := route(slices.Min(o.n), slices.Max(o.n))
	var all []journey
	for _, t := range travellers {
		c, err := byName(contenders(), t.contender)
		if err != nil {
			return err
		}
		made := t.made(up[0], up[len(up)-1])
		j := journey{label: strings.Replace(t.label, "SIZE", quantity.Round(float64(made)), 1)}
		if err := j.travel(c, request{n: made, fpr: o.fprs[0], size: o.sizes[0]}, up, o); err != nil {
			return fmt.Errorf("benchmarks: -journey: %s: %w", j.label, err)
		}
		out.printf("%s: %d stops, %s\n", j.label, len(j.stops), j.ending())
		all = append(all, j)
	}
	picture, err := drawJourneys(up, o.fprs[0], all)
	if err != nil {
		return err
	}
	var figures strings.Builder
	writeStops(&printer{w: &figures}, all)
	return errors.Join(os.WriteFile(o.journey, picture, 0o644),
		os.WriteFile(strings.TrimSuffix(o.journey, ".svg")+".csv", []byte(figures.String()), 0o644))
}

// route returns the stops from first to last, four for each factor of ten.
func route(first, last uint64) (up []uint64) {
	for i := 0; ; i++ {
		n := uint64(math.Round(float64(first) * math.Pow(10, float64(i)/4)))
		if float64(n) > 0.8*float64(last) {
			return append(up, last)
		}
		up = append(up, n)
	}
}

// travel takes a new set all the way up and down again, or as far as it can go.
func (j *journey) travel(c contender, w request, up []uint64, o options) error {
	t := &trip{journey: j, keys: keyspace{size: w.size, seed: o.seed}, buffer: newBlock(min(o.probes, bufferKeys), w.size)}
	t.before = liveHeap()
	var err error
	if t.set, err = c.build(w); err != nil {
		return err
	}
	for _, n := range up {
		if t.keys.n += t.each(t.keys.n, n, t.set.add); t.keys.n < n {
			j.end = "full"
			t.measure(false)
			return nil
		}
		t.measure(false)
		if err := t.verify(); err != nil {
			return err
		}
	}
	if t.set.del == nil {
		j.end = "cannot delete"
		return nil
	}
	for _, n := range slices.Backward(up[:len(up)-1]) {
		if deleted := t.each(n, t.keys.n, t.set.del); deleted < t.keys.n-n {
			return fmt.Errorf("%d of %d keys found to be deleted", deleted, t.keys.n-n)
		}
		t.keys.n = n
		t.measure(true)
		if err := t.verify(); err != nil {
			return err
		}
	}
	return nil
}

// A trip is a journey under way.
type trip struct {
	*journey
	set    set
	keys   keyspace // as many as are in the set
	buffer block
	before int64 // the live heap without the set
}

// each gives the keys numbered lo to hi to work, some at a time, until it does not take
// all of them. It returns how many it took.
func (t *trip) each(lo, hi uint64, work func(block) int) (taken uint64) {
	for lo < hi {
		b := t.buffer.slice(0, int(min(hi-lo, 1024, uint64(t.buffer.len()))))
		t.keys.number(b, func() uint64 { lo++; return lo - 1 })
		n := work(b)
		if taken += uint64(n); n < b.len() {
			break
		}
	}
	return taken
}

// measure adds a stop. Memory is the growth of the live heap, or what the set says if that
// is more: some of it may lie outside the heap.
func (t *trip) measure(back bool) {
	t.keys.misses(t.buffer, 1)
	rate := float64(t.set.has(t.buffer)) / float64(t.buffer.len())
	bits := 8 * float64(liveHeap()-t.before)
	if t.set.bits != nil {
		bits = max(bits, float64(t.set.bits()))
	}
	t.stops = append(t.stops, stop{t.keys.n, back, bits / float64(t.keys.n), rate})
	runtime.KeepAlive(t.set)
}

// verify asks for keys of the set.
func (t *trip) verify() error {
	t.keys.hits(t.buffer, 1)
	if found := t.set.has(t.buffer); found < t.buffer.len() {
		return fmt.Errorf("FALSE NEGATIVES: %d of %d present keys not found", t.buffer.len()-found, t.buffer.len())
	}
	return nil
}

// ending says how the journey ended.
func (j *journey) ending() string {
	if j.end == "" {
		return "came back"
	}
	return j.end
}

// writeStops writes all figures.
func writeStops(w *printer, all []journey) {
	w.println("contender,way,keys,bits per key,measured rate,ends")
	for _, j := range all {
		for i, s := range j.stops {
			way, end := "up", ""
			if s.back {
				way = "down"
			}
			if i == len(j.stops)-1 {
				end = j.ending()
			}
			w.printf("%q,%s,%d,%.2f,%.7f,%s\n", j.label, way, s.keys, s.bits, s.rate, end)
		}
	}
}

// leastRate is the lowest that the picture shows; what is below stands there, too.
const leastRate = 3e-5

// drawJourneys returns the picture: two panels, one above the other, over the stops of
// the way up and down again.
func drawJourneys(up []uint64, asked float64, all []journey) ([]byte, error) {
	title := fmt.Sprintf("A set grows from %s to %s keys and shrinks again", quantity.Round(float64(up[0])), quantity.Round(float64(up[len(up)-1])))
	x := draw.Axis{Label: "keys in the set: growing, then shrinking"}
	for i := range 2*len(up) - 1 {
		name := ""
		if at := min(i, 2*(len(up)-1)-i); at%4 == 0 || at == len(up)-1 {
			name = quantity.Round(float64(up[at]))
		}
		x.Names = append(x.Names, name)
	}
	bits := draw.Plot{Title: title, X: x, Y: draw.Axis{Label: "memory, bits per key", Log: true}}
	rates := draw.Plot{X: x, Y: draw.Axis{Label: "false-positive rate, measured", Log: true, Percent: true, Min: leastRate, Max: 1.1}}
	for i, j := range all {
		bits.Series = append(bits.Series, j.series(i, up, func(s stop) float64 { return s.bits }))
		if slices.ContainsFunc(j.stops, func(s stop) bool { return s.rate > 0 }) { // not exact
			rates.Series = append(rates.Series, j.series(i, up, func(s stop) float64 { return max(s.rate, leastRate) }))
		}
	}
	line := draw.Series{Name: "asked: " + quantity.Rate(asked), Style: draw.Dashed, Color: 7, Points: []draw.Point{{Y: asked}, {X: float64(len(x.Names) - 1), Y: asked}}}
	rates.Series = append(rates.Series, line)
	return draw.PanelsSVG(title, 1, bits, rates)
}

// series is a line with the name of the i-th journey, and why it ended.
func (j *journey) series(i int, up []uint64, value func(stop) float64) draw.Series {
	s := draw.Series{Name: j.label, Color: i + 1}
	if j.end != "" {
		s.Name += ": " + j.end
	}
	for _, at := range j.stops {
		x, _ := slices.BinarySearch(up, at.keys)
		if at.back {
			x = 2*(len(up)-1) - x
		}
		if y := value(at); y > 0 { // or the heap shrank meanwhile, and nothing was measured
			s.Points = append(s.Points, draw.Point{X: float64(x), Y: y})
		}
	}
	return s
}
