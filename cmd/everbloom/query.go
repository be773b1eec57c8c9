package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/extract"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// noLimit is more lines than there are.
const noLimit = math.MaxUint64

// query prints the lines whose keys may be in a set, as grep does for patterns.
type query struct {
	*env
	rules    lines.Rules
	find     extract.Finder // nil: the key is the text of the line
	invert   bool
	only     bool   // print parts of lines
	count    bool   // print a number instead
	list     bool   // print the names of inputs with selected lines instead
	others   bool   // print the names of the others instead
	number   bool   // print numbers of lines
	names    bool   // print names of inputs
	nameless bool   // never print them
	quiet    bool   // print nothing
	silent   bool   // say nothing about inputs that are not there
	max      uint64 // selected lines of one input; noLimit by default

	set      *everbloom.Set
	keys     atomic.Uint64 // asked so far
	selected uint64        // lines of the current input
	any      bool          // a line of any input was selected
	troubled bool          // an input could not be read
}

func newQuery(e *env) *cobra.Command {
	q := &query{env: e}
	cmd := &cobra.Command{
		Use:     "query FILE [INPUT...]",
		GroupID: groupUse,
		Short:   "Print the lines that may be in the set",
		Long: `Query prints the lines whose keys may be in the set, in their order. Lines
that are in the set are always printed; others now and then, at the filter's
rate. With -v it prints the lines that certainly are not in the set.

` + lineRules + `
Lines without a key are in no set, so that -v prints them.

` + keyRules + `

With --match the keys of a line are all its matches, and the line is selected if
any of them may be in the set:

  ip     IPv4 and IPv6 addresses, without ports; those that are not written in
         the shortest form are tried in that form, too
  word   runs of letters, digits, "-", "_" and "."
  REGEX  what the regular expression (of Go) matches, or its first group

Each match is one more chance of a false positive: take a rate that allows for
as many keys as there are on a line. With -o only the matches are printed that
may be in the set, with -v those that certainly are not.

FILE and the inputs are named as for grep, and flags mean what they mean there.
An input that cannot be read is reported, and the others are read. The exit
status is 0 if a line was selected, 1 if none was, 2 in case of trouble.`,
		Example: `  everbloom query seen.bloom urls.txt
  everbloom query -v seen.bloom urls.txt | sort -u > new-urls.txt
  everbloom query --match ip blocklist.bloom auth.log.gz
  everbloom query -c --match 'user=(\w+)' users.bloom logs/*.log
  everbloom query --field 2 --delimiter , customers.bloom orders.csv
  echo alice | everbloom query -q users.bloom && echo "perhaps"`,
		Args: q.checkArgs,
		RunE: verb(q.run),
	}
	q.flags(cmd)
	return cmd
}

// flags are grep's. The one for help has no short form: -h is taken.
func (q *query) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&q.invert, "invert", "v", false, "select the lines that are not in the set")
	f.BoolVarP(&q.count, "count", "c", false, "print only how many lines of each input were selected")
	f.BoolFuncP("files-with-matches", "l", "print only the names of inputs with selected lines", q.setList(true))
	f.BoolFuncP("files-without-match", "L", "print only the names of inputs without selected lines", q.setList(false))
	f.BoolVarP(&q.quiet, "quiet", "q", false, "print nothing and stop at the first selected line")
	f.BoolVarP(&q.only, "only-matching", "o", false, "print only the parts of lines that are keys, one per line")
	f.Uint64VarP(&q.max, "max-count", "m", noLimit, "stop after `N` selected lines of each input")
	f.Lookup("max-count").DefValue = "0" // not shown in the help
	f.BoolVarP(&q.number, "line-number", "n", false, "print the number of each line before it")
	f.BoolVarP(&q.names, "with-filename", "H", false, "print the name of the input before each line (default if there are several)")
	f.BoolVarP(&q.nameless, "no-filename", "h", false, "do not print the names of inputs")
	f.BoolVarP(&q.silent, "no-messages", "s", false, "say nothing about inputs that cannot be read")
	f.Var(parsed[extract.Finder]{&q.find, "WHAT", extract.New, nil}, "match", "take all of `WHAT` as the keys of a line: ip, word or a regular expression")
	complete(cmd, "match", "ip", "word")
	keyFlags(cmd, &q.rules)
	f.Bool("help", false, "help for query")
}

// setList has the last of -l and -L win.
func (q *query) setList(with bool) func(string) error {
	return func(text string) error {
		on, err := strconv.ParseBool(text)
		q.list, q.others = on && with, on && !with
		return err
	}
}

// checkArgs answers -h, by itself, as all other verbs do.
func (q *query) checkArgs(cmd *cobra.Command, args []string) error {
	if q.nameless && len(args) == 0 {
		return pflag.ErrHelp
	}
	return atLeast(1, "a filter file")(cmd, args)
}

// errReported ends a verb with exitError after all that can be said was said.
var errReported = errors.New("")

// run reads the inputs one by one, for one that fails must not keep the others
// from being read.
func (q *query) run(ctx context.Context, args []string) (err error) {
	names := args[1:]
	if len(names) == 0 {
		names = []string{lines.Stdin}
	}
	if err := checkStdin(args[0], names); err != nil {
		return err
	}
	if err := checkRules(q.rules); err != nil {
		return err
	}
	if q.set, err = q.openFilter(args[0]); err != nil {
		return err
	}
	if q.max == 0 {
		return errNone
	}
	q.names = !q.nameless && (q.names || len(names) > 1)
	for _, name := range names {
		if err := q.one(ctx, name); err != nil {
			return err
		}
		if q.quiet && q.any {
			return nil // whatever is wrong with the inputs
		}
	}
	switch {
	case q.troubled:
		return errReported
	case !q.any:
		return errNone
	}
	return nil
}

// checkStdin refuses to read the standard input twice.
func checkStdin(file string, names []string) error {
	seen := file == lines.Stdin
	for _, name := range names {
		if name != lines.Stdin {
			continue
		}
		if seen && file == lines.Stdin {
			return within(file, "the standard input is both the filter and an input: name a file for one of them")
		}
		if seen {
			return within(name, "the standard input is named twice: name it once")
		}
		seen = true
	}
	return nil
}

// one queries the lines of one input. Its error ends the run; trouble with the
// input does not.
func (q *query) one(ctx context.Context, name string) error {
	q.selected = 0
	in, err := q.input([]string{name}, q.rules, q.quiet || q.silent)
	if err != nil {
		if failed := q.trouble(err, q.silent); failed != nil || !errors.Is(err, lines.ErrFolder) {
			return failed
		}
		return q.conclude(name) // for grep a folder is an input without lines
	}
	err = q.read(ctx, in)
	q.any = q.any || q.selected > 0
	if err != nil && !errors.Is(err, errEnough) {
		return q.trouble(err, false)
	}
	return q.conclude(name)
}

// trouble says what is wrong with an input. An error of another sort it returns.
func (q *query) trouble(err error, silent bool) error {
	if !errors.As(err, new(*lines.Error)) {
		return err
	}
	q.troubled = true
	if !silent {
		q.say("%s", fault.Text(err))
	}
	return nil
}

// errEnough ends reading early.
var errEnough = errors.New("enough")

// read judges blocks in parallel and prints them in order.
func (q *query) read(ctx context.Context, in *lines.Input) error {
	// Lines on the way to the same terminal would run into a bar.
	bar := q.reading("query", q.printsLines(), in, &q.keys, nil)
	defer bar.Stop()
	return lines.Each(ctx, in, q.judge, q.print)
}

// printsLines reports whether selected lines, or parts of them, are printed.
func (q *query) printsLines() bool { return !q.count && !q.list && !q.others && !q.quiet }

// conclude prints what there is to say about an input as a whole.
func (q *query) conclude(name string) (err error) {
	name = shownName(name)
	switch {
	case q.quiet:
	case q.list || q.others:
		if q.list == (q.selected > 0) {
			_, err = fmt.Fprintln(q.stdout, name)
		}
	case q.count && q.names:
		_, err = fmt.Fprintf(q.stdout, "%s:%d\n", name, q.selected)
	case q.count:
		_, err = fmt.Fprintln(q.stdout, q.selected)
	}
	return err
}

// shownName is how the output calls an input.
func shownName(name string) string {
	if name == lines.Stdin {
		return "(standard input)"
	}
	return name
}
