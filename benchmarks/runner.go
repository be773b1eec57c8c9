package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/internal/quantity"
	"github.com/everbloom-go/everbloom/internal/timing"
)

// A runner measures all settings one after the other.
type runner struct {
	opts     options
	chosen   []contender
	out, log *printer
	report   report
}

// run measures, writes and returns the exit status.
func (r *runner) run() (status int) {
	timing.Pinned(func() { status = r.runPinned() })
	return status
}

func (r *runner) runPinned() int {
	r.report.Machine = thisMachine()
	r.report.Settings = fmt.Sprintf("%d rounds, %v for each operation, %d probes for the rate, seed %d",
		r.opts.rounds, r.opts.pass, r.opts.probes, r.opts.seed)
	r.out.printf("# Filters side by side\n\n%v\n\n%s. Times are nanoseconds per key and thread, median ± half the interquartile range", r.report.Machine, r.report.Settings)
	if r.opts.base != "" {
		r.out.printf("; × is the ratio to %s", r.opts.base)
	}
	r.out.printf(".\n\n")
	for _, size := range r.opts.sizes {
		for _, fpr := range r.opts.fprs {
			for _, n := range r.opts.n {
				r.measure(request{n, fpr, size})
			}
		}
	}
	return r.conclude()
}

// conclude writes what concerns the whole run.
func (r *runner) conclude() int {
	status := fine
	if r.opts.bars && !r.report.writeBars(r.out) {
		status = barMissed
	}
	if len(r.report.Broken) > 0 {
		r.out.printf("## Broken promises\n\n- %s\n", strings.Join(r.report.Broken, "\n- "))
		status = failed
	}
	if r.opts.json != "" {
		if err := r.report.save(r.opts.json); err != nil {
			r.log.println(err)
			return failed
		}
	}
	if r.out.err != nil {
		r.log.println("benchmarks: output:", r.out.err)
		return failed
	}
	return status
}

// measure lets the contenders meet over one set of keys, as many as there is memory for,
// and writes its tables.
func (r *runner) measure(w request) {
	var rows [][]*result
	var fit []contender
	budget := float64(r.opts.mem)
	for _, c := range r.chosen {
		need := float64(w.n) * c.peak / 8
		if need > budget {
			rows = append(rows, r.skip(w, c, fmt.Sprintf("would need about %s more than -mem leaves", quantity.Bytes(need-budget))))
			continue
		}
		budget -= need
		fit = append(fit, c)
	}
	rows = append(rows, r.meet(w, fit)...)
	for i, threads := range r.opts.threads {
		for _, row := range rows {
			r.report.Results = append(r.report.Results, *row[i])
		}
		r.report.writeCell(r.out, cell{w.n, w.fpr, w.size, threads}, r.opts.base)
	}
}

// meet runs the contenders and returns their rows.
func (r *runner) meet(w request, fit []contender) (rows [][]*result) {
	a := newArena(w, r.opts)
	for _, c := range fit {
		e, err := a.admit(c)
		if err != nil {
			rows = append(rows, r.skip(w, c, err.Error()))
			continue
		}
		e.rows = r.rowsOf(w, e)
		rows = append(rows, e.rows)
		r.logf(w, "%s: %.1f bits/key, %s false positives", c.name, e.facts.Bits, e.facts.rateText())
	}
	for round := range a.rounds {
		start := time.Now()
		a.round(round)
		r.logf(w, "round %d of %d: %.1f s", round+1, a.rounds, time.Since(start).Seconds())
	}
	for _, line := range a.broken {
		r.log.println(line)
	}
	r.report.Broken = append(r.report.Broken, a.broken...)
	return rows
}

// rowsOf returns the rows of an entrant, one for each number of threads.
func (r *runner) rowsOf(w request, e *entrant) (rows []*result) {
	e.facts.Note = e.traits.String()
	for _, threads := range r.opts.threads {
		row := &result{cell: cell{w.n, w.fpr, w.size, threads}, Contender: e.name, Facts: e.facts}
		if threads > 1 && e.traits.has(loneReader) {
			row.Skipped = "concurrent lookups are not safe"
		}
		rows = append(rows, row)
	}
	return rows
}

// skip returns rows that say why a contender has no figures.
func (r *runner) skip(w request, c contender, why string) (rows []*result) {
	r.logf(w, "%s: skipped: %s", c.name, why)
	for _, threads := range r.opts.threads {
		rows = append(rows, &result{cell: cell{w.n, w.fpr, w.size, threads}, Contender: c.name, Skipped: why})
	}
	return rows
}

// logf writes a line of progress.
func (r *runner) logf(w request, format string, args ...any) {
	r.log.printf("%s, %s, %d B: %s\n", quantity.Round(float64(w.n)), quantity.Rate(w.fpr), w.size, fmt.Sprintf(format, args...))
}
