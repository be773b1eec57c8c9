// Package store keeps results in a folder.
//
// Every experiment has a folder of its own, named after its identifier:
//
//	sum/params/result.json   everything, and what Load reads
//	sum/params/rate.svg      a plot
//	sum/params/rate.csv      its points: series, x, y, lo, hi
//	sum/params/sizes.csv     a table
//	sum/params/checks.csv    the checks
//
// A folder is replaced as a whole: its files belong together. Of two runs that write
// at a time one may fail. Files of other names are kept.
package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/everbloom-go/everbloom/internal/draw"
	"github.com/everbloom-go/everbloom/internal/lab"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Dir is the folder that holds the results.
type Dir string

const resultFile = "result.json"

// Folder is where the files of an experiment are.
func (d Dir) Folder(id string) string { return filepath.Join(string(d), filepath.FromSlash(id)) }

// Load reads what was stored last. The error wraps fs.ErrNotExist if that is
// nothing, or of another version of the form.
func (d Dir) Load(id string) (*Record, error) {
	name := filepath.Join(d.Folder(id), resultFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.In("store", "%w", err)
	}
	// The version says whether the rest can be read, so it is read alone.
	var head struct {
		Version int    `json:"version"`
		ID      string `json:"id"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fault.In("store", "%s: %w", name, err)
	}
	if head.Version != version || head.ID != id {
		return nil, fault.In("store", "%s: version %d of %q: %w", name, head.Version, head.ID, fs.ErrNotExist)
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fault.In("store", "%s: %w", name, err)
	}
	// Files can be edited: what cannot be shown is refused.
	if err := r.Result.Check(); err != nil {
		return nil, fault.In("store", "%s: %w", name, err)
	}
	return &r, nil
}

// Save replaces what was stored of the experiment. The last to save wins, with
// all files.
func (d Dir) Save(r *Record) error {
	files, err := render(&r.Result)
	if err != nil {
		return fault.In("store", "%s: %w", r.ID, err)
	}
	stored := *r
	stored.Version = version
	data, err := json.MarshalIndent(&stored, "", " ")
	if err != nil {
		return fault.In("store", "%s: %w", r.ID, err)
	}
	files[resultFile] = append(data, '\n')
	if err := replace(d.Folder(r.ID), files); err != nil {
		return fault.In("store", "%w", err)
	}
	return nil
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
		if len(p.Series) > 0 {
			files[p.Name+".csv"] = table([]string{"series", "x", "y", "lo", "hi"}, pointRows(p))
		}
	}
	for _, t := range r.Tables {
		files[t.Name+".csv"] = table(t.Columns, t.Rows)
	}
	if len(r.Checks) > 0 {
		files["checks.csv"] = table([]string{"kind", "check", "printed", "ours", "tolerance", "verdict", "reason"}, checkRows(r.Checks))
	}
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
			if i := int(pt.X); len(p.X.Names) > 0 && i >= 0 && i < len(p.X.Names) && float64(i) == pt.X {
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

func checkRows(checks []lab.Check) (rows [][]string) {
	for _, c := range checks {
		rows = append(rows, []string{string(c.Kind), c.Name, c.Printed, c.Ours, c.Tolerance, c.Word(), c.Reason})
	}
	return rows
}

// replace puts the files into the folder, in place of those that are there. They are
// written beside it and renamed, so that files of two runs never mix and a run that
// fails leaves the old ones. If they cannot be renamed they stay: they may be the work
// of hours.
func replace(folder string, files map[string][]byte) error {
	if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
		return &fs.PathError{Op: "replace", Path: folder, Err: errors.New("not a folder")}
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o777); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(folder), "."+filepath.Base(folder)+"-")
	if err != nil {
		return err
	}
	fresh := filepath.Join(aside, "new")
	if err := write(fresh, files); err != nil {
		return errors.Join(err, os.RemoveAll(aside))
	}
	if err := swap(folder, fresh, filepath.Join(aside, "old")); err != nil {
		return fmt.Errorf("%w: the files are in %s", err, aside)
	}
	return os.RemoveAll(aside)
}

// swap moves the folder away and the fresh one into its place, with the files of the
// old one that are not of a result.
func swap(folder, fresh, old string) error {
	if err := os.Rename(folder, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, _ := os.ReadDir(old) // there may be none
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Name() == resultFile || ext == ".csv" || ext == ".svg" {
			continue
		}
		if err := os.Rename(filepath.Join(old, e.Name()), filepath.Join(fresh, e.Name())); err != nil {
			return err
		}
	}
	return os.Rename(fresh, folder)
}

func write(folder string, files map[string][]byte) error {
	err := os.Mkdir(folder, 0o777)
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), content, 0o666)
		}
	}
	return err
}
