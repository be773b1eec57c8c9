// Package store runs experiments and keeps their results in a folder.
//
// Every experiment has a folder of its own, named after its identifier:
//
//	sum/params/result.json   everything, and what Load reads
//	sum/params/rate.svg      a plot
//	sum/params/rate.csv      its points: series, x, y, lo, hi
//	sum/params/sizes.csv     a table
//	sum/params/checks.csv    the checks
//
// Files of a result take the place of those of the one before; others are kept.
package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/fault"
	"github.com/everbloom-go/everbloom/internal/lab"
)

// Dir is the folder that holds the results.
type Dir string

const resultFile = "result.json"

// Folder is where the files of an experiment are.
func (d Dir) Folder(id string) string { return filepath.Join(string(d), filepath.FromSlash(id)) }

// Load reads what was stored last, and takes the reasons of differences from the claims of
// today. The error wraps fs.ErrNotExist if that is nothing, or of another version of the form.
func (d Dir) Load(x lab.Experiment) (*Record, error) {
	name := filepath.Join(d.Folder(x.ID), resultFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.In("store", "%w", err)
	}
	var r Record
	err = json.Unmarshal(data, &r)
	if json.Valid(data) && (r.Version != version || r.ID != x.ID) {
		return nil, fault.In("store", "%s: version %d of %q: %w", name, r.Version, r.ID, fs.ErrNotExist)
	}
	if err == nil {
		err = r.Result.Check() // files can be edited: what cannot be shown is refused
	}
	if err != nil {
		return nil, fault.In("store", "%s: %w", name, err)
	}
	x.Explain(r.Result.Checks)
	return &r, nil
}

// Save replaces what was stored of the experiment. The file that Load reads goes first
// and comes last, so that a folder that was not written to the end counts as empty.
func (d Dir) Save(r *Record) error {
	stored := *r
	stored.Version = version
	data, err := json.MarshalIndent(&stored, "", " ")
	if err != nil {
		return fault.In("store", "%s: %w", r.ID, err)
	}
	files, err := render(&r.Result)
	if err != nil {
		return fault.In("store", "%s: %w", r.ID, err)
	}
	folder := d.Folder(r.ID)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fault.In("store", "%w", err)
	}
	err = removeResult(folder)
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o666)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, resultFile), append(data, '\n'), 0o666)
	}
	if err != nil {
		return fault.In("store", "%w", err)
	}
	return nil
}

// removeResult removes the files of a result.
func removeResult(folder string) (err error) {
	for _, pattern := range []string{resultFile, "*.csv", "*.svg"} {
		names, _ := filepath.Glob(filepath.Join(folder, pattern)) // the patterns are good
		for _, name := range names {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// render makes the files that people look at.
func render(r *lab.Result) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, p := range r.Plots {
		svg, err := draw.SVG(p)
		if err != nil {
			return nil, err
		}
		files[p.Name+".svg"] = svg
		files[p.Name+".csv"] = table([]string{"series", "x", "y", "lo", "hi"}, pointRows(p))
	}
	for _, t := range r.Tables {
		files[t.Name+".csv"] = table(t.Columns, t.Rows)
	}
	var checks [][]string
	for _, c := range r.Checks {
		checks = append(checks, []string{string(c.Kind), c.Name, c.Printed, c.Ours, c.Tolerance, c.Word(), c.Reason})
	}
	files["checks.csv"] = table([]string{"kind", "check", "printed", "ours", "tolerance", "verdict", "reason"}, checks)
	return files, nil
}

func table(columns []string, rows [][]string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.WriteAll(append([][]string{columns}, rows...)) // memory takes everything
	return out.Bytes()
}

// pointRows leaves intervals empty where there are none.
func pointRows(p lab.Plot) (rows [][]string) {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, s := range p.Series {
		for _, pt := range s.Points {
			row := []string{s.Name, text(pt.X), text(pt.Y), "", ""}
			if i := int(pt.X); i >= 0 && i < len(p.X.Names) && float64(i) == pt.X {
				row[1] = p.X.Names[i]
			}
			if pt.HasInterval() {
				row[3], row[4] = text(pt.Lo), text(pt.Hi)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
