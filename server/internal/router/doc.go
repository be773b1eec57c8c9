// Package router takes the commands of a connection to the partitions of a cluster.
//
// A key has a slot as in Redis Cluster, and a slot a partition. Commands about keys of one
// partition run in the node that leads it: here, in a [command.Session] of that partition, or
// over a connection to the leader. Commands about the connection run in the home session,
// which has no partition.
//
//	connection ──> Session ──┬──> lane 0 ──> seat: session of the partition, which leads here
//	                         ├──> lane 1 ──┐
//	                         └──> lane 2 ──┴──> peer ──> the leader's seats
//
// What one read of the socket brought is a batch. Its commands are handed to their partitions
// at the same time and the replies are put in order. Commands of one partition keep their
// order, those of several do not; a command about several partitions, a transaction and a
// command about the connection wait for the batch before them and are waited for.
//
// # Outcomes
//
// A leader answers with its replies, or that it does not lead, when nothing was decided: then
// the commands are sent to the next leader, for [Config.Patience] at most. If a connection to
// a leader breaks, or brings nothing for as long and the leader cannot be reached by another,
// commands that only read are sent again. If one of them may have changed something the outcome
// is unknown, and the client's connection is closed without a reply. Replies of reads are used
// only if the lease held when they had been made.
//
// # Sets that are spread
//
// A set of EB.CREATE … SHARDS n has n parts. Part i is an ordinary entry of the same name in the
// partition i·P/n behind that of the name, of P. It knows what part it is, and of which set: the
// first part gives the set a number. A fixed hash says in which part an item is.
//
// A command says which part it takes a key for, or that it takes it for a whole set. A leader
// that has something else does nothing and answers [command.Misrouted], so what nodes remember
// of sets may be out of date: the partition of the name is asked again. A command whose items
// are in several parts is divided; what some parts have done is not sent to them again, unless
// the set was replaced.
//
// Creating begins with the first part, so one of several commands creates the set; deleting ends
// with it, so what broke off can be done again. Parts of an earlier set are replaced, those of a
// later one are not. Nothing is atomic over several parts: each item is as consistent as in a
// whole set, but descriptions and merges are not about one moment. If another client replaces
// the set by a whole one in the middle of a batch, commands of the batch about it may change
// their order.
//
// # Connections between nodes
//
// They begin as connections of clients, with EB.PEER and the secret of the cluster. From then
// on each side sends messages, a length of 4 bytes and so many bytes: the node that forwards
// one request, the leader one reply, and so on. There is one connection for each connection of
// a client and each leader that it needs, so the sessions of a leader belong to one client.
package router
