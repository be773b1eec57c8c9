package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/report"
	"github.com/everbloom-go/everbloom/internal/lab/store"
)

// labReport writes the page.
type labReport struct {
	session
	out     string
	results string
	stored  bool
}

func newLabReport(e *env) *cobra.Command {
	r := &labReport{session: session{env: e}}
	cmd := &cobra.Command{
		Use:   "report [PATTERN...]",
		Short: "Write one page with all results",
		Long: `Report writes one HTML page with every experiment: its question, its plots and
tables, what the paper says, what was measured, and the verdict. The page needs
neither a network nor other files. If --out ends in .md it is of Markdown, and
shows the pictures and tables that are stored with the results.

What has no result yet, or one of other code, seed or parameters, is run first,
quickly unless --full says otherwise. Full results are kept while the parameters
are still the same, unless --again is given; the page tells their commit.`,
		Example: `  everbloom lab report
  everbloom lab report --out page.html sum 'ebf21/*'
  everbloom lab report --stored --results docs/results --out page.html
  everbloom lab report --results docs/results --out docs/results/README.md`,
		RunE:              verb(r.run),
		ValidArgsFunction: e.completeExperiments,
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&r.out, "out", "", "`FILE` to write (default: report.html among the results)")
	cmd.Flags().StringVar(&r.results, "results", labFolder, "`FOLDER` with the results")
	cmd.Flags().BoolVar(&r.stored, "stored", false, "run nothing, show what is stored")
	return cmd
}

func (r *labReport) run(ctx context.Context, patterns []string) error {
	chosen, err := r.choose(patterns)
	if err != nil {
		return err
	}
	if r.out == "" {
		r.out = filepath.Join(r.results, "report.html")
	}
	if info, err := os.Stat(r.out); err == nil && info.IsDir() {
		return within(r.out, "is a folder: name a file")
	}
	outcomes, err := r.outcomes(ctx, chosen)
	if err != nil {
		return err
	}
	if err := r.write(outcomes); err != nil {
		return err
	}
	if !r.quiet {
		if _, err := fmt.Fprintf(r.stdout, "%s\n%s\n", r.out, report.Tally(outcomes...)); err != nil {
			return err
		}
	}
	return failed(outcomes)
}

// outcomes are stored or run now.
func (r *labReport) outcomes(ctx context.Context, chosen []lab.Experiment) ([]store.Outcome, error) {
	if r.stored {
		return r.storedOutcomes(chosen)
	}
	dir, err := labDir(r.results)
	if err != nil {
		return nil, err
	}
	return r.execute(ctx, &store.Runner{Dir: dir}, chosen, func(store.Outcome) {})
}

// storedOutcomes only reads. A result that cannot be read is one that failed.
func (r *labReport) storedOutcomes(chosen []lab.Experiment) ([]store.Outcome, error) {
	switch info, err := os.Stat(r.results); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, within(r.results, "no such folder: everbloom lab run makes it, --results names another")
	case err != nil:
		return nil, within(r.results, "%w", systemReason(err))
	case !info.IsDir():
		return nil, within(r.results, "is a file: name a folder")
	}
	dir := store.Dir(r.results)
	outcomes := make([]store.Outcome, len(chosen))
	for i, x := range chosen {
		outcomes[i].Experiment = x
		switch record, err := dir.Load(x); {
		case err == nil:
			outcomes[i].Record, outcomes[i].Stored = record, true
		case !errors.Is(err, fs.ErrNotExist):
			outcomes[i].Err = err
		}
	}
	return outcomes, nil
}

func (r *labReport) write(outcomes []store.Outcome) error {
	page, err := r.page(outcomes)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.out), 0o777); err != nil {
		return unwritable(r.out, err)
	}
	if err := os.WriteFile(r.out, page, 0o666); err != nil {
		return unwritable(r.out, err)
	}
	return nil
}

// page is of the form that the name asks for.
func (r *labReport) page(outcomes []store.Outcome) ([]byte, error) {
	var page bytes.Buffer
	if filepath.Ext(r.out) != ".md" {
		err := report.Write(&page, outcomes)
		return page.Bytes(), err
	}
	folder, err := relative(filepath.Dir(r.out), r.results)
	if err != nil {
		return nil, err
	}
	err = report.WriteMarkdown(&page, outcomes, filepath.ToSlash(folder))
	return page.Bytes(), err
}

// relative is the way from one folder to another, for links.
func relative(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}
