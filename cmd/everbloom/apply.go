package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/everbloom-go/everbloom/cmd/everbloom/internal/lines"
	"github.com/everbloom-go/everbloom/filter"
)

func newApply(e *env) *cobra.Command {
	c := &change{env: e}
	cmd := &cobra.Command{
		Use:     "apply FILE [INPUT...]",
		GroupID: groupChange,
		Short:   "Apply a log of added and deleted keys",
		Long: `Apply reads a log of changes and applies them in their order to the filter in
FILE, which must be of a kind that can delete.

  +KEY   adds a key
  -KEY   deletes a key
  @TEXT  marks a version and is skipped

` + lineRules + `

` + deleteStatus + `

` + changeRules,
		Example: `  everbloom apply users.bloom changes.log
  printf '+alice\n-bob\n' | everbloom apply users.bloom`,
		Args: atLeast(1, "a filter file"),
		RunE: c.verb(true, c.applyLines),
	}
	c.flags(cmd)
	forceFlag(cmd, &c.rules)
	return cmd
}

// changes are those of a block, in order. Neighbours of one sort are a run, so
// that they can be applied together.
type changes struct {
	keys []filter.Key
	runs []changeRun
}

type changeRun struct {
	sign byte // '+' or '-'
	end  int  // index in keys after its last
}

// applyLines applies a log. Hashing runs in parallel; the changes themselves keep
// the order of the lines, for adding and deleting a key is not deleting and adding
// it.
func (c *change) applyLines(ctx context.Context, in *lines.Input) error {
	hash := c.set.Hash()
	return lines.Each(ctx, in, func(b *lines.Block, log *changes) error { return log.parse(b, hash) }, c.applyChanges)
}

// applyChanges applies those of one block.
func (c *change) applyChanges(_ *lines.Block, log *changes) error {
	start := 0
	for _, r := range log.runs {
		keys := log.keys[start:r.end]
		start = r.end
		var err error
		if r.sign == '+' {
			err = c.add(keys)
		} else {
			err = c.remove(keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parse reads the changes of a block.
func (log *changes) parse(b *lines.Block, hash filter.Hash) error {
	log.keys, log.runs = log.keys[:0], log.runs[:0]
	for i, l := range b.Cut() {
		if err := log.parseLine(b.Text[l.From:l.To], hash); err != nil {
			return &lines.Error{Name: b.Name, Line: b.First + i, Err: err}
		}
	}
	return nil
}

// parseLine reads one change. A sign without a key is refused: no list of keys can
// hold the empty one, so it would be absent always.
func (log *changes) parseLine(line []byte, hash filter.Hash) error {
	if len(line) == 0 || line[0] == '@' {
		return nil
	}
	sign := line[0]
	switch {
	case sign != '+' && sign != '-':
		return fmt.Errorf("begins with %q: write +KEY, -KEY or @TEXT", rune(sign))
	case len(line) == 1:
		return errors.New("has no key: write +KEY or -KEY")
	}
	log.keys = append(log.keys, hash.Bytes(line[1:]))
	if n := len(log.runs); n > 0 && log.runs[n-1].sign == sign {
		log.runs[n-1].end = len(log.keys)
	} else {
		log.runs = append(log.runs, changeRun{sign, len(log.keys)})
	}
	return nil
}
