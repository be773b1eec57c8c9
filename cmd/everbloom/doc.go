// Command everbloom plans, builds, queries, changes, merges and inspects
// filters: sets of keys that take about ten bits per key, have no false negatives,
// and false positives at a rate that the user chooses. It also runs the experiments
// behind them.
//
// Run everbloom without arguments for the list of verbs, and everbloom VERB
// --help for what each of them does, with examples.
//
// # How it is made
//
// There is one file per verb. A verb is a struct of its flags and its state with
// a method that does the work; newRoot puts them together, run executes one
// command line. What verbs share:
//
//	env.go      the world: standard streams, terminal, table of kinds
//	flags.go    values of flags
//	needs.go    flags that say what a set has to do
//	lists.go    key lists: flags, opening, hashing
//	filters.go  filters: opening, checking, saving
//	change.go   what add, delete and apply have in common
//	merge.go    what union and intersect have in common
//	lab.go      what lab run and lab report have in common
//	failure.go  messages and exit statuses
//
// Packages below internal read key lists (lines), find keys inside lines (extract),
// keep keys until their number is known (spool), show how far the work has come
// (terminal), measure a set that changes (growth), and tell what a gate
// did (gatereport).
//
// No kind of filter is named in the code: everything about them comes from the
// table in package kinds.
//
// # What every verb keeps to
//
// Results go to the standard output, everything else to the standard error, so
// that verbs can stand in pipes. Everything that can be checked is checked before
// the first key is read. A filter file is replaced as a whole, at the very end, or
// not touched. A message names the file, and the line if there is one, says what
// is wrong, and what to do.
//
//	0    done; of query: a line was selected
//	1    query selected no line; some keys could not be deleted; of lab run --strict:
//	     a check differs that is expected to reproduce
//	2    trouble, with a message
//	130  interrupted
package main
