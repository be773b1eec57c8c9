// Package kinds is the table of all kinds of filter that everbloom has: what
// each is called, what it can do, what it will cost, how to make one and how to
// read one back.
//
// The table is a plain list in table.go. A new kind is a new row there: the
// planner, the command line tool, the documentation and the tests read it and
// need no other change.
package kinds
