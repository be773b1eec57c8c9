package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/quantity"
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
		Long: `Info shows kind, shape, hash, size and number of keys of filter files, from
their first bytes, without loading them. With --check it loads everything,
verifies all checksums, and shows the rate of false positives as the filter
stands.`,
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
	Bytes int64  `json:"bytes"`
	everbloom.Description
	State *everbloom.Info `json:"state,omitempty"` // with --check
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
	f := fileInfo{File: path, Bytes: stat.Size(), Description: d}
	if i.check {
		set, err := i.openFilter(path)
		if err != nil {
			return fileInfo{}, err
		}
		state := set.Info()
		f.State = &state
	}
	return f, nil
}

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
	row("file", "%s (%s)", f.File, quantity.Bytes(float64(f.Bytes)))
	row("kind", "%s, format version %d", f.Kind, f.Version)
	row("shape", "%s", f.Shape)
	if f.Shards > 1 {
		row("shards", "%d, each of this shape", f.Shards)
	}
	row("hash", "%s", f.hashName())
	about := "about "
	if f.State != nil && f.State.Exact || countsKeys(f.Kind) {
		about = ""
	}
	row("keys", "%s%s", about, quantity.Count(s.Keys))
	if s.Capacity > 0 {
		row("made for", "%s", quantity.Keys(s.Capacity))
	}
	row("memory", "%s", f.memory())
	if s.Keys > 0 {
		row("per key", "%s bits", quantity.Short(float64(s.FastBits+s.SlowBits)/float64(s.Keys)))
	}
	if f.State != nil {
		f.printState(row)
	}
	return t.Flush()
}

// printState adds what only a loaded filter knows.
func (f fileInfo) printState(row func(name, format string, args ...any)) {
	row("fill", "%.1f %%", 100*f.State.Fill)
	overfull := ""
	if f.State.Overfull {
		overfull = ", above the asked one: it holds more keys than it was made for"
	}
	row("rate", "%s%s", quantity.Rate(f.State.FPR), overfull)
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
