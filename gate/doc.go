// Package gate is a packet filter and tracker: it rejects packets of banned sources,
// searches the words of all other users for forbidden sequences, and bans a user at the
// third.
//
// It is the challenge of [Sum]. A packet is a source address and a few 32-bit words, or a
// payload of bytes that belongs to a flow. [Engine.Step] and [Engine.StepPayload] return a
// [Verdict] with its reason; there is no I/O here.
//
// # Rules
//
// In this order, for each packet:
//
//  1. A source on the white list passes, and nothing else happens.
//  2. A source in the banned set, or in a network of the black list, is rejected, and
//     nothing else changes.
//  3. The source enters the tracked set, if it is not there.
//  4. The words continue the user's chain. Packets of others never break it: a chain is
//     a run of words in the user's own accepted packets, and any position may be its
//     first. A payload continues the chain of its flow, byte by byte.
//  5. A completed pattern is one strike, at most one per packet, and the chain begins
//     anew.
//  6. The last strike, usually the third, moves the user from the tracked set to the
//     banned set and drops the user's state. That packet is held back, too.
//
// A query answers bad, else good, else none, and tells when both sets claim the
// address. [Engine.Unban] takes an address off the banned set.
//
// # Memory
//
//	address ──hash, once──> key
//	                         ├─> banned set ── claimed: reject (confirmed exactly where the kind can, see Config.Confirm)
//	                         ├─> tracked set ─ told of users that it does not claim
//	                         └─> states ────── only users inside a chain or with strikes
//	words ──> set of words ──> automaton, for words that are in some pattern
//
// The tracked and the banned set are filters of one kind, chosen by name ([Kinds]). The
// set of words is a blocked Bloom filter; bans that the banned set has no room for are in an
// exact table behind it. The states are a table of cache lines, 19 bytes per user when four
// fifths full.
// Networks are in an exact table of prefixes, which the limit does not cover.
//
// # The limit
//
// Without Config.Memory states grow with the users, and so do sets of evergreen. With it,
// sets and states together never take more: each part has its share from the start, and
// only bans take what others leave over. At the limit the gate goes on, and
// [Engine.Lost] tells what it gave up:
//
//  1. beginnings of chains of users without strikes: a new one replaces an old one;
//  2. strikes: old ones of users that were not heard of for long are replaced, those of
//     networks that have more than an eighth of the states first; else new ones are not
//     counted;
//  3. new users no longer enter the tracked set: they are served as before, but a query
//     answers none;
//  4. hits of the banned set are no longer confirmed, when the table of bans is full;
//  5. bans go to the table behind the banned set, 11 bytes each, which takes the memory that
//     the tracked set does not use; when there is none a new ban replaces another one.
//
// Without Config.Memory no ban is forgotten. See docs/design/0005-gate.md.
//
// # What is exact
//
// Where hits are confirmed, as by default with evergreen and elastic, no false positive
// rejects. Elsewhere false positives of the banned set lock sources out, at the rate
// that [Stats] tells. False positives of the tracked set make queries answer good for
// none; false positives of the set of words cost time. Chains, strikes and bans come
// from states, which are exact for keys. Keys are 64 bits of a hash with a secret: two
// addresses of equal key are one user. The chain of a flow that pauses while half as many
// others begin one as there is room for is forgotten.
//
// Kinds differ in how a ban changes the tracked set:
//
//   - evergreen and elastic ignore duplicates exactly and refuse to delete an absent
//     key. They are told every sixteenth packet of users that they claim, so that those
//     that they claim by mistake enter, too.
//   - deletable, counting and dleft are told only of users that they take for absent. A
//     false positive leaves a user out, and that user's ban deletes what belongs to
//     others: a query may then answer none for these, until their next packet. Verdicts
//     do not depend on it.
//
// # Costs
//
// A packet takes one lookup in the banned set, one in the tracked set and one in the
// states: three lines of memory, of which two are read at once. Nothing is
// allocated. [Engine.StepBatch] asks about many records at once, which takes less time. An
// Engine is for one goroutine at a time; [Workers] splits users among several.
package gate
