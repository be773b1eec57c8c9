// Package store keeps the sets of a server in memory: entries by name and by number, and
// what records of the log do to them.
//
// What is in a Store is a function of the records that were applied, nothing else. One
// goroutine, the partition's, applies records and calls everything that is marked so; any
// number of others look up entries and ask them. Queries of most kinds take no lock
// beside that writer.
//
// An entry has a number for life; names come and go. Its [Spec] says what it is, down to
// the geometry of the filter, so that replaying an old log builds the same filter whatever
// a later release would choose.
package store
