package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/draw"

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
	// Files can be edited: what would be refused from an experiment is refused here.
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
