// Package keeper keeps a gate at work over days: bans that end, a state that outlives the
// process, events for listeners, and control from outside.
//
// A [Keeper] wraps a [gate.Engine] and may be used by many goroutines.
//
// # Bans
//
// The engine knows keys only. A Keeper has a list of bans with addresses, so that they can
// be shown, end, and be enforced elsewhere. A ban lasts Config.BanFor; each further ban of
// the same user lasts longer by a factor. Those given by hand last as long as was said.
//
// # State
//
// The state is a frame as filters have it (docs/formats/envelope.md), of kind 1000, with the
// hash and its secret in the header:
//
//	sequence 8 | saved at 8 | bans 4 | ban … | past bans 4 | past ban … | engine … | logs 4 | log … | watched 4 | user …
//	ban       length 2 | network as text | since 8 | until 8 | times 4 | length 2 | reason
//	past ban  length 2 | network as text | ended 8 | times 4
//	log       length 2 | path | start of the last line 8 | its end 8 | hash of its text 8
//	user      length 2 | network as text; all that may be inside a chain, or 2^32-1 watched: not known
//
// A file is replaced as a whole (internal/replace). With Config.Sync every strike, ban and
// unban is also appended to a journal beside it, FILE.log, and is on disk before it is told:
// lines of a checksum, a sequence number and an event. Reading takes the state, then the
// lines of the journal that are newer. A last line that is cut off was being written when the
// process was killed; other damaged lines are left out and told, and a copy of the journal
// is kept as FILE.log.damaged.N.
//
// FILE.lock is locked while a gate keeps its state: no other one may.
package keeper
