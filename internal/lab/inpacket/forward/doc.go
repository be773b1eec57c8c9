// Package forward forwards packets by Bloom filters in their headers, without
// tables of routes.
//
// It is the application of [DlBF10], Sec. V. Every directed link of a network has an
// ID. The sender puts the IDs of a delivery tree into a filter of 256 bits
// ([Format.Encode]), and a node sends a copy over each of its links whose ID is in the
// header ([Header.Has]). The filter errs, so some copies go where they should not, and
// may go round in circles. The filter of filter/deletable lets a node take a link that
// it uses out of the copy that goes over it ([Header.Delete]).
//
//	header.go          the header
//	graph.go, tree.go  random networks, trees of shortest ways
//	forward.go         simulates a packet and counts what happens
//	chain.go           services in place of links: firewall, balancer, inspector
//
// There is no I/O here. The experiments inpacket/* of the lab measure all of it.
//
// # No receiver is missed
//
// Every receiver gets a copy, with and without deletion. Take the way through the
// tree to a receiver, and the copy that goes along it. When it goes over a link, that
// link, and nothing else, is deleted from it. So whatever was deleted from it are
// links of the tree that were in the header, each once, and deleting a key that is in
// the set takes nothing from other keys (filter/deletable, invariants). The links
// that are still before the copy are among those others, and so all of them are found.
// Copies have bits of their own, so that what happens to others does not matter.
//
// Two things are needed for that. A copy forgets only the link that it goes over, not
// the others that its node uses: one of these may have been found by mistake, and to
// delete what was never added takes bits of others. And the tree's links are added
// once each, which Encode sees to.
//
// A copy that has left the tree over a link that was found by mistake does delete what
// was never added. It may lose links of the tree, which does no harm: every node that it
// could reach along them gets another copy.
//
// A chain of services has one copy only, so this does not hold for it: see [Switch].
//
// # Nothing gets worse
//
// Deleting only clears bits. By induction along its way every copy that there is with
// deletion is there without it, too, so that in the same header there are at most as
// many transmissions, circles and nodes reached. But the marks take bits from the
// cells, and a plain header of the same size finds fewer links by mistake at first.
//
// # Circles
//
// A circle is a copy that comes back to a node where it has been. In a tree of shortest
// ways every link leads one step away from the source, and no link of the network leads
// more than one step back. So at most half of the links of any circle are in the tree,
// and the others must be found by mistake: one for the circle of two links, there and
// back, and at least two for all others. [Rules] has the choice not to ask for the link
// back.
package forward
