package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// groups are the headings of the list of verbs.
const (
	groupChoose = "choose"
	groupUse    = "use"
	groupChange = "change"
	groupMerge  = "merge"
	groupLab    = "lab"
	groupGate   = "gate"
	groupServe  = "serve"
)

// newRoot puts the verbs together.
func newRoot(e *env) *cobra.Command {
	cobra.EnableCommandSorting = false // the order below is the one to learn them in
	root := &cobra.Command{
		Use:   "everbloom",
		Short: "Sets of keys in about ten bits per key",
		Long: `everbloom keeps sets of keys in little memory. A key in the set is always
found; an absent key is taken for a present one at a rate that you choose.`,
		Example: `  everbloom plan --items 10M --fpr 1%           which kinds of filter would do?
  everbloom build -o seen.bloom urls.txt        one key per line
  everbloom query seen.bloom new-urls.txt       the lines that may be in the set
  everbloom query -v seen.bloom new-urls.txt    the lines that certainly are not
  everbloom query --match ip bad.bloom auth.log the lines with a listed address
  everbloom uniq --state s.bloom urls.txt       the lines not seen before`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noVerb,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddGroup(
		&cobra.Group{ID: groupChoose, Title: "Choose a filter:"},
		&cobra.Group{ID: groupUse, Title: "Make and use one:"},
		&cobra.Group{ID: groupChange, Title: "Change it:"},
		&cobra.Group{ID: groupMerge, Title: "Merge several:"},
		&cobra.Group{ID: groupLab, Title: "See what is behind it:"},
		&cobra.Group{ID: groupGate, Title: "Guard a network:"},
		&cobra.Group{ID: groupServe, Title: "Serve sets to clients of Redis:"},
	)
	root.AddCommand(
		newPlan(e), newBench(e),
		newBuild(e), newQuery(e), newUniq(e), newInfo(e),
		newAdd(e), newDelete(e), newApply(e),
		newUnion(e), newIntersect(e),
		newDemo(e), newLab(e),
		newGate(e),
		newServe(e), newToken(e), newImport(e), newCluster(e), newLoad(e),
	)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 80"))
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	return root
}

// noVerb refuses what is not a verb, with a guess at what was meant.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		return fmt.Errorf("unknown verb %q: did you mean %s?", args[0], strings.Join(similar, " or "))
	}
	return fmt.Errorf("unknown verb %q", args[0])
}

// flagError names the flag and what is wrong, but not the value again, which may
// be a mistyped secret.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s: %s", invalid.GetFlag().Name, fault.Text(numberError(invalid.Unwrap())))
	}
	return err
}

// numberError says what is wrong with a number without the name of the function that
// found out.
func numberError(err error) error {
	var number *strconv.NumError
	switch {
	case !errors.As(err, &number):
		return err
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("%q is too large or too small", number.Num)
	case number.Func == "ParseUint":
		return fmt.Errorf("%q is not a whole number from 0", number.Num)
	}
	return fmt.Errorf("%q is not a number", number.Num)
}

// atLeast refuses too few arguments; what says what to name instead.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("too few arguments: name %s", what)
		}
		return nil
	}
}

// noArguments refuses all arguments; instead says what to give instead.
func noArguments(instead string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("%s takes no arguments, found %q: %s", cmd.Name(), args[0], instead)
		}
		return nil
	}
}

// withOutput refuses a verb without the file to write, and else lets next judge
// the arguments.
func withOutput(out *string, next cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *out == "" {
			return errors.New("no output: name the file to write with -o")
		}
		return next(cmd, args)
	}
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, e *env, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return e.report(cmd, err)
}

// version is what the Go tool recorded about the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}

// verb wraps what a verb does, so that its errors can be told from those about
// the command line.
func verb(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := do(cmd.Context(), args); err != nil {
			return &failure{err}
		}
		return nil
	}
}
