package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// none stands where there is no figure.
const none = "–"

// A table is Markdown with columns padded, so that it can be read as plain text too.
type table struct {
	rows [][]string // the first is the head
}

// wordColumns are the heads of columns that hold words and go left; figures go right.
var wordColumns = []string{"contender", "batches", "from", "work", "remarks", "bar", "value of", "verdict"}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// writeTo writes the table, with a line below the head that says where the columns go.
func (t *table) writeTo(w *printer) {
	rule := make([]string, len(t.rows[0]))
	for i, head := range t.rows[0] {
		rule[i] = "--:"
		if slices.Contains(wordColumns, head) {
			rule[i] = "---"
		}
	}
	var text strings.Builder
	padded := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0) // writing to a Builder does not fail
	for _, row := range slices.Insert(t.rows, 1, rule) {
		_, _ = fmt.Fprintf(padded, "| %s\t|\n", strings.Join(row, "\t| "))
	}
	_ = padded.Flush()
	w.println(text.String())
}

// writeCell writes everything about one setting: the main table, the batches, and what is
// missing.
func (r *report) writeCell(w *printer, c cell, base string) {
	w.printf("## %s keys of %d bytes, asked %s, %s\n\n", quantity.Round(float64(c.N)), c.KeySize, quantity.Rate(c.FPR), threadsText(c.Threads))
	r.writeMain(w, c, base)
	r.writeBatches(w, c)
	for _, x := range r.Results {
		if x.cell == c && x.Skipped != "" {
			w.printf("Not here: %s: %s.\n\n", x.Contender, x.Skipped)
		}
	}
}

// writeMain writes one row per contender.
func (r *report) writeMain(w *printer, c cell, base string) {
	ops, compared := []op{insert, hit, miss, remove}, []op{insert, hit, miss}
	to := r.find(c, base)
	t := table{rows: [][]string{{"contender", "bits/key", "says", "FPR"}}}
	for _, o := range ops {
		t.rows[0] = append(t.rows[0], string(o)+" ns")
	}
	for _, o := range compared {
		if to != nil {
			t.rows[0] = append(t.rows[0], "×"+string(o))
		}
	}
	t.rows[0] = append(t.rows[0], "allocs", "remarks")
	for _, x := range r.Results {
		if x.cell != c || x.Skipped != "" {
			continue
		}
		row := []string{x.Contender, x.Facts.bitsText(), figure(x.Facts.Says, "%.1f"), x.Facts.rateText()}
		for _, o := range ops {
			row = append(row, nanos(x.Nanos[o]))
		}
		for _, o := range compared {
			if to != nil {
				row = append(row, figure(timing.Ratio(x.Nanos[o], to.Nanos[o]), "%.2f"))
			}
		}
		t.row(append(row, x.Facts.allocsText(), x.Facts.remarks())...)
	}
	t.writeTo(w)
}

// writeBatches writes one row per contender that has batch calls. In brackets the ratio
// to its own single calls.
func (r *report) writeBatches(w *printer, c cell) {
	t := table{rows: [][]string{{"batches"}}}
	for _, size := range batchSizes {
		for _, o := range []op{insert, hit, miss} {
			t.rows[0] = append(t.rows[0], fmt.Sprintf("%s of %d", o, size))
		}
	}
	for _, x := range r.Results {
		if x.cell != c || x.Skipped != "" || !x.hasBatches() {
			continue
		}
		row := []string{x.Contender}
		for _, size := range batchSizes {
			for _, o := range []op{insert, hit, miss} {
				row = append(row, x.batchText(o, o.inBatches(size)))
			}
		}
		t.row(row...)
	}
	if len(t.rows) > 1 {
		t.writeTo(w)
	}
}

func (r *result) hasBatches() bool {
	return len(r.Nanos[insert.inBatches(batchSizes[0])])+len(r.Nanos[hit.inBatches(batchSizes[0])]) > 0
}

func (r *result) batchText(single, batch op) string {
	if len(r.Nanos[batch]) == 0 {
		return none
	}
	return fmt.Sprintf("%s (%.2f×)", nanos(r.Nanos[batch]), timing.Ratio(r.Nanos[batch], r.Nanos[single]))
}

// nanos writes median and spread of samples.
func nanos(samples []float64) string {
	m := timing.Median(samples)
	switch {
	case math.IsNaN(m):
		return none
	case m < 100:
		return fmt.Sprintf("%.1f ±%.0f%%", m, timing.Spread(samples)*100)
	}
	return fmt.Sprintf("%.0f ±%.0f%%", m, timing.Spread(samples)*100)
}

// figure writes a number that may not be there.
func figure(x float64, format string) string {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 {
		return none
	}
	return fmt.Sprintf(format, x)
}

func (f *facts) bitsText() string {
	if f.Probes == 0 {
		return none
	}
	return figure(f.Bits, "%.1f")
}

// rateText writes the measured rate, or how few false positives there were for one.
func (f *facts) rateText() string {
	switch {
	case f.Probes == 0:
		return none
	case f.Positive == 0:
		return "0"
	}
	return quantity.Rate(f.FPR())
}

// allocsText writes the allocations per key of insert, lookup and delete, or one zero for all.
func (f *facts) allocsText() string {
	var parts []string
	total := 0.0
	for _, o := range []op{insert, hit, remove} {
		if x, ok := f.Allocs[o]; ok {
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0"))
			total += x
		}
	}
	if total < 0.05 {
		return "0"
	}
	return strings.Join(parts, "/")
}

// remarks writes what a reader must know to read the row right.
func (f *facts) remarks() string {
	var parts []string
	if f.Note != "" {
		parts = append(parts, f.Note)
	}
	if f.Missed > 0 {
		parts = append(parts, quantity.Rate(f.Missed)+" false negatives")
	}
	if f.Refused > 0 {
		parts = append(parts, fmt.Sprintf("full: refused %d keys", f.Refused))
	}
	return strings.Join(parts, "; ")
}

// A printer writes text and remembers the first error, so that the many places that write need
// not each look at it.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) println(args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, args...)
	}
}
