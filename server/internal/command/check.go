package command

import "fmt"

// Check returns what is wrong with a command, in the order in which Redis looks.
func (s *Session) Check(cmd *Command, args [][]byte) string {
	if cmd == nil {
		return s.env.Table.unknown(args)
	}
	if !cmd.Takes(len(args)) {
		return arity(cmd)
	}
	if s.user == nil {
		if cmd.Flags&NoAuth == 0 {
			return "NOAUTH Authentication required."
		}
		return ""
	}
	if problem := s.user.forbids(cmd, args); problem != "" {
		return problem
	}
	if s.multi != nil && cmd.Flags&NoMulti != 0 {
		return "ERR Command not allowed inside a transaction"
	}
	if len(args) == 1 || cmd.Last == 1 && len(args[1]) <= maxName { // as most commands
		return ""
	}
	for i := range cmd.Keys(len(args)) {
		if len(args[i]) > maxName {
			return fmt.Sprintf("ERR key of %d bytes, at most %d", len(args[i]), maxName)
		}
	}
	return ""
}

const maxName = 64 << 10

func arity(cmd *Command) string {
	return "ERR wrong number of arguments for '" + cmd.Name + "' command"
}

func (c *Call) arity() { c.w.Err(arity(c.cmd)) }

// refused returns why a command may not change anything now.
func (c *Call) refused() string {
	if err := c.tx.Refuses(); err != nil {
		return "MISCONF writes are refused because the log cannot be written: " + err.Error()
	}
	if c.cmd.Flags&DenyOOM != 0 && c.bytes() > c.env.MaxMemory() {
		return outOfMemory
	}
	return ""
}

const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."
