package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/kinds"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// info shows what filter files say about themselves.
type info struct {
	*env
	json, check bool
}

func newInfo(e *env) *cobra.Command {
	i := &info{env: e}
	cmd := &cobra.Command{
		Use:     "info FILE...",
		GroupID: groupUse,
		Short:   "Show what a filter file holds",
		Long: `Show kind, shape, hash, size and number of keys of filter files, from their
first bytes, without loading them. With --check load everything, verify all
checksums, and show the rate of false positives as the filter stands.

The number of keys is an estimate where it says "about". A filter that holds far
more keys than it was made for has a warning. The name "-" stands for the
standard input.`,
		Example: `  everbloom info seen.bloom
  everbloom info --check *.bloom
  everbloom info --json seen.bloom | jq '.[0].summary.keys'`,
		Args: atLeast(1, "a filter file"),
		RunE: verb(i.run),
	}
	cmd.Flags().BoolVar(&i.json, "json", false, "print a JSON array with one object per file")
	cmd.Flags().BoolVar(&i.check, "check", false, "load and verify everything")
	return cmd
}

// fileInfo is what is known about one file.
type fileInfo struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes,omitempty"` // 0 if the file is a pipe
	everbloom.Description
	Saturated bool            `json:"saturated"`       // it says yes to every key, or nearly so; the number of keys is of no use
	State     *everbloom.Info `json:"state,omitempty"` // with --check

	counted, overfull bool // Summary.Keys is no estimate; is far above the capacity
}

// run shows all files that can be shown, and reports the others.
func (i *info) run(ctx context.Context, args []string) error {
	var (
		found = []fileInfo{} // JSON shows an empty array, not null
		errs  []error
	)
	for _, path := range args {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := i.describe(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, f)
	}
	if err := i.print(found); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// describe reads the beginning of a file, and with --check all of it.
func (i *info) describe(path string) (fileInfo, error) {
	if path == lines.Stdin {
		return i.describeStdin()
	}
	file, err := os.Open(path)
	if err != nil {
		return fileInfo{}, unreadable(path, err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	stat, err := file.Stat()
	if err != nil {
		return fileInfo{}, unreadable(path, err)
	}
	d, err := everbloom.Describe(file)
	if err != nil {
		return fileInfo{}, unreadable(path, err)
	}
	f := i.judged(path, d)
	f.Bytes = stat.Size()
	if !i.check {
		return f, nil
	}
	if !stat.Mode().IsRegular() {
		return fileInfo{}, within(path, "cannot be read twice: store it in a file for --check")
	}
	set, err := i.openFilter(path)
	if err != nil {
		return fileInfo{}, err
	}
	state := set.Info()
	f.State, f.counted, f.overfull = &state, state.Exact, state.Overfull
	f.Saturated = f.Saturated || state.Saturated()
	return f, nil
}

// describeStdin describes the filter that the standard input begins with.
func (i *info) describeStdin() (fileInfo, error) {
	if i.check {
		return fileInfo{}, within(lines.Stdin, "cannot be read twice: store it in a file for --check")
	}
	if err := i.takeStdin(); err != nil {
		return fileInfo{}, err
	}
	d, err := everbloom.Describe(i.stdin)
	if err != nil {
		return fileInfo{}, unreadable(lines.Stdin, err)
	}
	return i.judged(lines.Stdin, d), nil
}

// judged is what the description of a file tells. The kind knows what the number of
// keys means: it is exact where filters store their keys.
func (i *info) judged(path string, d everbloom.Description) fileInfo {
	f := fileInfo{File: path, Description: d, Saturated: d.Summary.Keys >= math.MaxInt64}
	for _, k := range kinds.All() {
		if k.Name == f.Kind {
			_, f.counted = k.Type.(filter.Exact)
			limit := farAbove * float64(f.Summary.Capacity)
			if k.Duplicates == filter.DuplicatesCounted {
				limit *= someCopies
			}
			f.overfull = limit > 0 && float64(f.Summary.Keys) > limit
		}
	}
	return f
}

const (
	// farAbove is how many times the keys that it was made for raise the rate of a
	// filter several times.
	farAbove = 1.5

	// someCopies is how often keys may be there on average, where copies count, before
	// many of them are too many.
	someCopies = 2
)

// print shows one table per file, or one JSON array for all.
func (i *info) print(found []fileInfo) error {
	if i.json {
		return printJSON(i.stdout, found)
	}
	for n, f := range found {
		if n > 0 {
			if _, err := fmt.Fprintln(i.stdout); err != nil {
				return err
			}
		}
		if err := f.print(i.stdout); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON shows no number of keys where there is no telling.
func (f fileInfo) MarshalJSON() ([]byte, error) {
	type plain fileInfo
	data, err := json.Marshal(plain(f))
	if err != nil || f.Summary.Keys < math.MaxInt64 {
		return data, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	fields["summary"].(map[string]any)["keys"] = nil
	return json.Marshal(fields)
}

// printJSON prints v for machines, in a form that people can read, too.
func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// print shows one file as a table of two columns.
func (f fileInfo) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { _, _ = fmt.Fprintf(t, name+"\t"+format+"\n", args...) } // Flush reports
	s := f.Summary
	if f.Bytes > 0 {
		row("file", "%s (%s)", f.File, quantity.Bytes(float64(f.Bytes)))
	} else {
		row("file", "%s", f.File)
	}
	row("kind", "%s, format version %d", f.Kind, f.Version)
	row("shape", "%s", f.Shape)
	if f.Shards > 1 {
		row("shards", "%d, each of this shape", f.Shards)
	}
	row("hash", "%s", f.hashName())
	row("keys", "%s", f.keys())
	if s.Capacity > 0 {
		row("made for", "%s", quantity.Keys(s.Capacity))
	}
	row("memory", "%s", f.memory())
	if s.Keys > 0 && !f.Saturated {
		row("per key", "%s bits", quantity.Short(float64(s.FastBits+s.SlowBits)/float64(s.Keys)))
	}
	if f.State != nil {
		f.printState(row)
	}
	if f.overfull {
		row("warning", "%s", f.warning())
	}
	return t.Flush()
}

// keys says how many there are and how well that is known.
func (f fileInfo) keys() string {
	switch {
	case f.Saturated:
		return "saturated: every bit is set or nearly so, it says yes to every key"
	case f.counted:
		return quantity.Count(f.Summary.Keys)
	}
	return "about " + quantity.Count(f.Summary.Keys)
}

// warning says that there are too many keys and what follows.
func (f fileInfo) warning() string {
	const remedy = "; give build a larger --items, or --grow"
	if f.State == nil {
		return "far more keys than it was made for: the rate is far above the asked one, --check shows it" + remedy
	}
	return "more keys than it was made for: the rate is above the asked one" + remedy
}

// printState adds what only a loaded filter knows.
func (f fileInfo) printState(row func(name, format string, args ...any)) {
	row("fill", "%.1f %%", 100*f.State.Fill)
	row("rate", "%s", quantity.Rate(f.State.FPR))
	for _, d := range f.State.Details {
		row(d.Name, "%s", d.Value)
	}
	row("check", "whole and undamaged")
}

// hashName has an answer for files that a program wrote without a set.
func (f fileInfo) hashName() string {
	if f.Hash == "" {
		return "not stored: a bare filter"
	}
	return f.Hash
}

// memory tells apart what queries read and what only changes touch, if there is
// any of the latter.
func (f fileInfo) memory() string {
	fast := quantity.Bytes(float64(f.Summary.FastBits) / 8)
	if f.Summary.SlowBits == 0 {
		return fast
	}
	return fast + " for queries, " + quantity.Bytes(float64(f.Summary.SlowBits)/8) + " for changes"
}
