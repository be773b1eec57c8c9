package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/terminal"
	"github.com/everbloom-go/everbloom/filter"
	"github.com/everbloom-go/everbloom/internal/quantity"
)

// lineRules is the part of the help that all verbs with key lists share.
const lineRules = `Keys come one per line, from the named files, or from the standard input if
none is named or the name is "-". A line ends at a newline; one carriage
return before it is dropped, and so is a byte order mark before the first
line. The key is the text of the line, whatever bytes it has, up to 16 MiB. The
last line may lack its newline. Empty lines hold no key. Inputs that hold gzip,
bzip2, xz or zstd data are decompressed, whatever their names. Inputs that do
not look like a list of keys, such as executables and filters, are refused
unless --force is given.`

// keyRules is the part of the help about the flags of keyFlags.
const keyRules = `With --field the key is one field of the line: fields are separated by runs of
blanks, or by every --delimiter. Quotes have no meaning. With --comment, lines
that begin with the prefix, after blanks or not, hold no key. With
--ignore-case the key is the text in lower case. The filter does not remember
these flags: give the same ones whenever keys are read for it.`

// keyFlags adds the flags that say which part of a line is the key.
func keyFlags(cmd *cobra.Command, rules *lines.Rules) {
	f := cmd.Flags()
	f.Var(fieldFlag(&rules.Field), "field", "take field `N` of each line as its key, from 1")
	f.Var(delimiterFlag(&rules.Delimiter), "delimiter", "separate fields at each `TEXT`, such as , or \\t (default: runs of blanks)")
	f.Var(commentFlag(&rules.Comments), "comment", "skip lines that begin with `PREFIX`, such as # (may be given several times)")
	f.BoolVarP(&rules.IgnoreCase, "ignore-case", "i", false, "take keys in lower case")
	f.BoolVarP(&rules.Zero, "null-data", "z", false, "lines end at a zero byte instead of a newline")
	forceFlag(cmd, rules)
}

// forceFlag adds the flag for inputs that look like anything but a list, and for
// outputs to a terminal.
func forceFlag(cmd *cobra.Command, rules *lines.Rules) {
	cmd.Flags().BoolVar(&rules.Force, "force", false, "read inputs that do not look like a list of keys, and write a filter even to a terminal")
}

// input opens the named inputs. If the keys are to be typed it says so, because
// a program that just waits looks broken.
func (e *env) input(names []string, rules lines.Rules, quiet bool) (*lines.Input, error) {
	if err := checkRules(rules); err != nil {
		return nil, err
	}
	in, err := lines.Open(names, e.stdin, rules)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: name a file of keys, or pipe keys in", err)
	}
	if err != nil {
		return nil, err
	}
	stdin := len(names) == 0 || slices.Contains(names, lines.Stdin)
	if stdin && e.taken {
		return nil, within(lines.Stdin, "the filter comes from the standard input: name a file of keys")
	}
	if stdin && e.typed {
		e.shown = false // a bar would run into what is typed
		if !quiet {
			e.say("reading keys from the terminal, one per line; end with Ctrl-D")
		}
	}
	return in, nil
}

// rateSoFar is cheap enough for ten times a second: Info does not look at the keys.
func rateSoFar(set *everbloom.Set) string { return "rate " + quantity.Rate(set.Info().FPR) }

// reading shows how far an input is read, and how good a set that is filled still is.
func (e *env) reading(label string, quiet bool, in *lines.Input, keys *atomic.Uint64, set *everbloom.Set) *terminal.View {
	return e.progress(quiet, func() terminal.State {
		s := terminal.State{Label: label, Bytes: true, Done: in.Done(), Total: in.Size(), Keys: keys.Load()}
		if set != nil {
			s.Notes = rateSoFar(set)
		}
		return s
	})
}

// checkRules refuses rules that mean nothing.
func checkRules(r lines.Rules) error {
	if r.Delimiter != "" && r.Field == 0 {
		return errors.New("--delimiter without --field: say with --field which field is the key")
	}
	return nil
}

// hashLines returns a function that puts the keys of a block into its result.
func hashLines(hash filter.Hash) func(*lines.Block, *[]filter.Key) error {
	return func(b *lines.Block, keys *[]filter.Key) error {
		*keys = appendKeys((*keys)[:0], b, b.Cut(), hash)
		return nil
	}
}

// appendKeys hashes the keys of the lines that hold one.
func appendKeys(keys []filter.Key, b *lines.Block, spans []lines.Span, hash filter.Hash) []filter.Key {
	var lower []byte
	for _, l := range spans {
		if l.From == l.To {
			continue
		}
		key := b.Text[l.From:l.To]
		if b.IgnoreCase() {
			lower = lines.AppendLower(lower[:0], key)
			key = lower
		}
		keys = append(keys, hash.Bytes(key))
	}
	return keys
}

// countLines must agree with hashLines on what holds a key.
func countLines(b *lines.Block, n *uint64) error {
	*n = 0
	for _, l := range b.Cut() {
		if l.From < l.To {
			*n++
		}
	}
	return nil
}
