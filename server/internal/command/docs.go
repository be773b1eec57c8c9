package command

import (
	"slices"
	"strings"
)

// flagNames returns the flags of a command as COMMAND INFO has them.
func (cmd *Command) flagNames() (names []string) {
	for _, f := range []struct {
		flag Flags
		name string
	}{
		{Write, "write"},
		{Read, "readonly"},
		{DenyOOM, "denyoom"},
		{Admin, "admin"},
		{NoAuth, "no_auth"},
		{NoMulti, "no_multi"},
		{Fast, "fast"},
	} {
		if cmd.Flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// categories returns the categories of a command.
func (cmd *Command) categories() (names []string) {
	for _, c := range []struct {
		in   bool
		name string
	}{
		{cmd.Flags&Write != 0, "@write"},
		{cmd.Flags&Read != 0, "@read"},
		{cmd.Flags&Fast != 0, "@fast"},
		{cmd.Flags&Fast == 0, "@slow"},
		{cmd.Flags&Admin != 0, "@admin"},
		{cmd.group() == "bf" || cmd.group() == "eb", "@bloom"},
		{cmd.group() == "cf" || cmd.group() == "eb", "@cuckoo"},
		{cmd.group() == "generic", "@keyspace"},
	} {
		if c.in {
			names = append(names, c.name)
		}
	}
	return names
}

// describe writes the ten elements of COMMAND INFO.
func (c *Call) describe(cmd *Command) {
	c.w.Array(10)
	c.w.Text(cmd.Name)
	c.w.Int(int64(cmd.Arity))
	c.simples(cmd.flagNames())
	c.w.Int(int64(cmd.First))
	c.w.Int(int64(cmd.Last))
	c.w.Int(int64(cmd.Step))
	c.simples(cmd.categories())
	c.w.Array(0)
	c.w.Array(0)
	c.w.Array(len(cmd.Subs))
	for _, sub := range cmd.Subs {
		c.describe(sub)
	}
}

func commandAll(c *Call) {
	c.w.Array(len(c.env.Table.sorted))
	for _, cmd := range c.env.Table.sorted {
		c.describe(cmd)
	}
}

func commandInfo(c *Call) {
	if len(c.args) == 2 {
		commandAll(c)
		return
	}
	c.w.Array(len(c.args) - 2)
	for _, name := range c.args[2:] {
		if cmd := c.env.Table.named(name); cmd != nil {
			c.describe(cmd)
		} else {
			c.w.Null()
		}
	}
}

// named returns the command, or subcommand with a bar, of a name.
func (t *Table) named(name []byte) *Command {
	first, _, sub := strings.Cut(strings.ToLower(string(name)), "|")
	cmd := t.byName[first]
	if cmd == nil || !sub {
		return cmd
	}
	for _, s := range cmd.Subs {
		if strings.EqualFold(s.Name, string(name)) {
			return s
		}
	}
	return nil
}

func commandDocs(c *Call) {
	list := c.env.Table.sorted
	if len(c.args) > 2 {
		list = nil
		for _, name := range c.args[2:] {
			if cmd := c.env.Table.named(name); cmd != nil {
				list = append(list, cmd)
			}
		}
	}
	c.documents(list)
}

// documents writes a map of commands and their documentation.
func (c *Call) documents(list []*Command) {
	c.w.Map(len(list))
	for _, cmd := range list {
		c.w.Text(cmd.Name)
		about := []any{"summary", cmd.Summary, "since", "1.0.0", "group", cmd.group()}
		if words := arguments(cmd.Syntax); len(words) > 0 {
			about = append(about, "arguments", func() {
				c.w.Array(len(words))
				for _, w := range words {
					c.argument(w)
				}
			})
		}
		if len(cmd.Subs) > 0 {
			about = append(about, "subcommands", func() { c.documents(cmd.Subs) })
		}
		c.pairs(about...)
	}
}

// arguments cuts a syntax into its arguments: words, and what stands in brackets.
func arguments(syntax string) (words []string) {
	depth, from := 0, 0
	for i, r := range syntax + " " {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case ' ':
			if depth == 0 {
				if i > from {
					words = append(words, syntax[from:i])
				}
				from = i + 1
			}
		}
	}
	return words
}

// argument writes one argument as COMMAND DOCS has it.
func (c *Call) argument(word string) {
	inner := strings.Trim(word, "[]")
	kind, flags := "string", []string(nil)
	switch {
	case inner == "key" || inner == "newkey" || inner == "source" || inner == "destination":
		kind = "key"
	case inner == strings.ToUpper(inner) && !strings.Contains(inner, " "):
		kind = "pure-token"
	}
	if strings.HasPrefix(word, "[") {
		flags = append(flags, "optional")
	}
	if strings.HasSuffix(inner, "...") {
		flags = append(flags, "multiple")
	}
	about := []any{"name", strings.ToLower(strings.Fields(inner)[0]), "type", kind, "display_text", inner}
	if len(flags) > 0 {
		about = append(about, "flags", flags)
	}
	c.pairs(about...)
}

func commandList(c *Call) {
	var names []string
	switch {
	case len(c.args) == 2:
		for _, cmd := range c.env.Table.sorted {
			names = append(names, cmd.Name)
		}
	case len(c.args) == 5 && word(c.args[2], "FILTERBY") && word(c.args[3], "PATTERN"):
		for _, cmd := range c.env.Table.sorted {
			if glob(c.args[4], cmd.Name) {
				names = append(names, cmd.Name)
			}
		}
	default:
		c.w.Err("ERR syntax error")
		return
	}
	c.texts(names)
}

func commandGetKeys(c *Call) {
	args := c.args[2:]
	cmd := c.env.Table.lookup(args)
	if cmd == nil {
		c.w.Err("ERR Invalid command specified")
		return
	}
	if !cmd.Takes(len(args)) {
		c.w.Err("ERR Invalid number of arguments specified for command")
		return
	}
	found := slices.Collect(cmd.Keys(len(args)))
	if len(found) == 0 {
		c.w.Err("ERR The command has no key arguments")
		return
	}
	c.w.Array(len(found))
	for _, i := range found {
		c.w.Bulk(args[i])
	}
}
