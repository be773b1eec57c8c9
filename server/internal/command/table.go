package command

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Keys yields the positions of keys among n words.
func (cmd *Command) Keys(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if cmd.First == 0 {
			return
		}
		last := cmd.Last
		if last < 0 {
			last += n
		}
		for i := cmd.First; i <= min(last, n-1); i += max(cmd.Step, 1) {
			if !yield(i) {
				return
			}
		}
	}
}

// A Table is all commands.
type Table struct {
	sorted  []*Command // by name
	counted []*Command // with subcommands, by number
	byName  map[string]*Command
}

// NewTable returns all commands.
func NewTable() *Table {
	t := &Table{byName: make(map[string]*Command)}
	t.sorted = slices.Concat(bloomCommands(), cuckooCommands(), ownCommands(), keyCommands(), textCommands(),
		connectionCommands(), multiCommands(), adminCommands(), lookCommands())
	slices.SortFunc(t.sorted, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	for _, cmd := range t.sorted {
		t.byName[cmd.Name] = cmd
		t.counted = append(append(t.counted, cmd), cmd.Subs...)
	}
	for i, cmd := range t.counted {
		cmd.number = i
	}
	return t
}

// lookup returns the command, or subcommand, that words begin with; nil if there is none.
func (t *Table) lookup(args [][]byte) *Command {
	cmd := t.find(args[0])
	if cmd == nil || cmd.Subs == nil {
		return cmd
	}
	if len(args) == 1 {
		return cmd // which complains about the number of words
	}
	name := cmd.Name + "|" + strings.ToLower(string(args[1]))
	for _, sub := range cmd.Subs {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

// find returns the command of a name in any case, without its subcommands.
func (t *Table) find(name []byte) *Command {
	var low [32]byte
	if len(name) > len(low) {
		return nil
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return t.byName[string(low[:len(name)])]
}

// unknown is the answer to a command that is not there.
func (t *Table) unknown(args [][]byte) string {
	if cmd := t.find(args[0]); cmd != nil {
		return fmt.Sprintf("ERR unknown subcommand '%.128s'. Try %s HELP.", args[1], strings.ToUpper(cmd.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ERR unknown command '%.128s', with args beginning with: ", args[0])
	for _, a := range args[1:] {
		if b.Len() > 256 {
			break
		}
		fmt.Fprintf(&b, "'%.128s' ", a)
	}
	return b.String()
}
