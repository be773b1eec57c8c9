// Package partition is the write path of a server: one log, one store, one goroutine that
// changes both.
//
//	connection ──┐ unit: what one read of the socket brought, in order
//	connection ──┼──> queue ──> decide ──> append ──> apply ──> answer
//	connection ──┘              effects    one record  memory    replies, in order
//
// The partition takes all waiting units and lets them decide. Deciding changes nothing: a
// [Tx] answers questions by what this batch has decided so far, then by the filters, and
// turns changes into effects. All effects become one record, which is appended to the log;
// when that is on disk it is applied to the store, and only then are the units answered.
// Batches form while the disk works; there are no timers.
//
// What changes nothing is not logged: an add of a key that is there, a delete of one that is
// not. That holds for sets that never delete and for kinds that store their keys. Others
// count: if the add of a key was left out because another looks like it, deleting the other
// would take both out.
//
// # Failures
//
// A log that refuses a record has not stored it: the batch is forgotten and decided anew,
// and each change in it is answered with an error, as are all changes until there is room.
// A unit whose effects take several records ends with the first that fails. If the outcome is unknown, units
// are answered with that, which closes their connections without a reply; the partition
// then reads the end of the log before it takes further changes. What is in memory is at
// all times a prefix of the log.
//
// # Clusters
//
// Several nodes may share a log. One of them leads: it decides, and holds a lease that every
// record of its own renews from the moment it was sent. The others apply what it writes, and
// claim the lead by a record with the next epoch when they have received nothing for longer
// than a lease. The log takes one record at a place, so one claim wins, and the next record
// of the node that led before is refused; its units are sent elsewhere. docs/design/0011-lease.md
// has the argument. What cannot be applied ends the partition ([Config].Ended).
package partition
