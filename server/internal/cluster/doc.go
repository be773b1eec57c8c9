// Package cluster has what several nodes share: NATS JetStream as a cluster.
//
// A Cluster is a connection to the servers of an operator (Connect), or to a member that
// runs inside of the process (Start). In it are
//
//   - one log for each partition: a stream with three copies;
//   - the images of each partition: an object store, and a register that says which of the
//     objects count;
//   - values that nodes agree on: what the first node said, such as the number of partitions;
//   - announcements: what each node tells about itself once a second.
//
// All names begin with a namespace, so several clusters can share the servers.
//
// # Entries
//
// An entry is published with the position that it must have. A retry keeps the bytes and the
// position, so nothing is stored twice, and a second writer is found out. When the engine says
// that something else is at the position, the entry that is there is read from the leader of the
// stream: if it is the same, an earlier try has stored it.
//
// A reader has a consumer of its own in the memory of one server. It is made anew on any doubt:
// silence, a message that was lost. Entries come without a gap: a copy that was damaged skips
// entries, and those are read from the other copies.
//
// # What the engine does not promise
//
// Members sync every entry before they acknowledge it. Servers of an operator must be told
// to: sync_interval: always, in their section jetstream. A client cannot see whether they do.
// Without it, a power cut of two servers at once loses acknowledged changes.
//
// A record has up to 4 MiB, so the servers must allow messages of that size: max_payload: 8MB.
// Connect refuses servers that do not.
//
// The folder of a member belongs to the cluster. A server alone that is started in it, or a
// folder of a server alone that is started as a member, loses its streams. The caller sees to it.
package cluster
