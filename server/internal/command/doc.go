// Package command is what a server does when it is told to: one table of commands, and what
// a connection remembers between them.
//
// A command is a row of the table: its name, how many arguments it takes, what it does to
// the data, where its keys stand, and the function that runs it. COMMAND, errors about
// arguments, permissions and documentation all come from there.
//
// # How a command runs
//
// A [Session] takes commands in order. Those that only read run at once, in the goroutine
// of the connection. From the first one on that writes, all join a unit, which the
// partition decides and answers as a whole: so the replies of a pipeline are in order,
// a connection sees its own writes, and a pipeline costs one commit whatever it mixes.
package command
