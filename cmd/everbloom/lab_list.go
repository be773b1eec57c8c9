package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/internal/lab"
	"github.com/everbloom-go/everbloom/internal/lab/report"
	"github.com/everbloom-go/everbloom/internal/lab/store"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// labList shows the experiments and what came of them.
type labList struct {
	*env
	out  string
	json bool
}

func newLabList(e *env) *cobra.Command {
	l := &labList{env: e}
	cmd := &cobra.Command{
		Use:   "list [PATTERN...]",
		Short: "Show the experiments and their last results",
		Long: `List shows each experiment with its paper, its last result and its question. A
PATTERN is an identifier, a topic, or a glob such as 'ebf21/*'.`,
		Example: `  everbloom lab list
  everbloom lab list sum 'ebf21/fig*'
  everbloom lab list --json`,
		RunE:              verb(l.run),
		ValidArgsFunction: l.completeExperiments,
	}
	cmd.Flags().StringVar(&l.out, "out", labFolder, "`FOLDER` with the results")
	cmd.Flags().BoolVar(&l.json, "json", false, "print a JSON array")
	return cmd
}

// listed is one experiment.
type listed struct {
	ID       string `json:"id"`
	Paper    string `json:"paper,omitempty"`
	Title    string `json:"title"`
	Question string `json:"question"`
	Last     string `json:"last"`

	Data []string `json:"data,omitempty"` // files of --data that it can use
}

func (l *labList) run(_ context.Context, patterns []string) error {
	chosen, err := l.choose(patterns)
	if err != nil {
		return err
	}
	all := make([]listed, 0, len(chosen))
	for _, x := range chosen {
		all = append(all, listed{x.ID, x.Paper, x.Title, x.Question, last(store.Dir(l.out), x), x.Data})
	}
	if l.json {
		return printJSON(l.stdout, all)
	}
	t := tabwriter.NewWriter(l.stdout, 0, 0, 2, ' ', 0)
	for _, x := range all {
		// Flush reports what goes wrong.
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", x.ID, x.Paper, x.Last)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, x := range all {
		if _, err := fmt.Fprintf(l.stdout, "\n%s: %s\n    %s\n%s", x.ID, x.Title, x.Question, canUse(x.Data)); err != nil {
			return err
		}
	}
	return nil
}

// canUse names the files that are looked for in a folder with data.
func canUse(patterns []string) string {
	if len(patterns) == 0 {
		return ""
	}
	return fmt.Sprintf("    It can use these files of --data: %s\n", strings.Join(patterns, ", "))
}

// last says what the last run found, and if it was one of other code or other
// parameters.
func last(dir store.Dir, x lab.Experiment) string {
	r, err := dir.Load(x)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "not run"
	case err != nil:
		return "unreadable: " + fault.Text(err)
	}
	text := fmt.Sprintf("%s (%s%s)", report.Tally(store.Outcome{Experiment: x, Record: r}), r.Mode(), used(r.Data))
	switch {
	case !r.Current(x):
		return text + ", of other parameters"
	case r.Origin.Commit != store.Here().Commit:
		return text + ", of another commit"
	}
	return text
}

// used names the first of the files of data.
func used(files []lab.DataFile) string {
	switch len(files) {
	case 0:
		return ""
	case 1:
		return ", with " + files[0].Name
	}
	return fmt.Sprintf(", with %s and %d more files", files[0].Name, len(files)-1)
}

// completeExperiments proposes identifiers to the shell.
func (e *env) completeExperiments(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var all []string
	for _, x := range e.experiments {
		all = append(all, x.ID+"\t"+x.Title)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
