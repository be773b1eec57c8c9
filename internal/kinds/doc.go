// Package kinds is the table of all kinds of filter that everbloom has: what
// each is called, what it can do, how to make one, read one back and predict what
// one will be like.
//
// The table is a plain list in table.go. A new kind is a folder in filter and a row
// there: the planner, the tool, the pages, the benchmarks and the tests follow.
package kinds
