package ebf21

import (
	"context"
	"iter"

	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// chunks cuts keys into strides, until it is interrupted.
func chunks(ctx context.Context, keys []filter.Key, length int) iter.Seq[[]filter.Key] {
	return func(yield func([]filter.Key) bool) {
		for len(keys) > 0 && ctx.Err() == nil {
			n := min(length, len(keys))
			if !yield(keys[:n]) {
				return
			}
			keys = keys[n:]
		}
	}
}

// addEach, askEach and deleteEach handle keys one by one, as the paper does.
func addEach(f filter.Filter, keys []filter.Key) error {
	for _, k := range keys {
		if _, err := f.Add(k); err != nil {
			return err
		}
	}
	return nil
}

func askEach(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		f.MayContain(k)
	}
}

// deleteEach passes over the keys that a dynamic filter refuses because two of its
// units claim them.
func deleteEach(f filter.Filter, keys []filter.Key) {
	for _, k := range keys {
		_ = filter.Delete(f, k)
	}
}

// speedPlot draws one operation over the peaks.
func speedPlot(work string, peaks []float64, all []rounds, chosen []contender) lab.Plot {
	names := map[string]string{insertion: "insertion", present: "positive-query", absent: "random-query", deletion: "deletion"}
	p := lab.Plot{
		Name: names[work], Title: "Speed by operation: " + work,
		X: lab.Axis{Label: "relative peak data size", Log: true}, Y: lab.Axis{Label: "million operations per second", Log: true},
	}
	for _, c := range chosen {
		s := c.series()
		for i, peak := range peaks {
			if len(all[i][lap{c.name, work}]) > 0 {
				s.Points = append(s.Points, lab.Point{X: peak, Y: mops(all[i], c.name, work)})
			}
		}
		if len(s.Points) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	return p
}

// nanoTable has all times.
func nanoTable(peaks []float64, all []rounds, chosen []contender) lab.Table {
	t := lab.Table{Name: "times", Title: "Time of one operation in ns", Columns: []string{"operation", "RPDS"}}
	for _, c := range chosen {
		t.Columns = append(t.Columns, c.name)
	}
	for _, work := range []string{insertion, present, absent, deletion} {
		for i, peak := range peaks {
			row := []any{work, peak}
			for _, c := range chosen {
				cell := "–"
				if len(all[i][lap{c.name, work}]) > 0 {
					cell = lab.Digits(all[i].Nanos(c.name, work), 3)
				}
				row = append(row, cell)
			}
			t.Add(row...)
		}
	}
	return t
}
