// Package inpacket holds the experiments on filters in packet headers, of which
// [DlBF10] speaks in Sec. I and Sec. V without measuring them: forwarding along the
// links of a delivery tree as in LIPSIN, and chains of services.
//
// Networks are made up, by seed: one with hubs, as the Internet has, and a ring with
// chords, in which all nodes have about four links. Headers have 256 bits in all, with
// the marks and the number of the candidate. Every trial draws a tree with so many
// links and hashes of its own, and the contenders get the same trees.
//
// The contenders of trees and loops:
//
//	plain              one mark, which costs a bit: a Bloom filter of the other 255
//	plain, chosen      the best of 16 such filters
//	deleting           a tenth of the bits for marks; links are deleted as they are used
//	deleting, chosen   the best of 16 such filters
//	kept               the headers of deleting, but nothing is deleted: for pairs
//
// The best is the one with the fewest mistakes on links that lead out of the tree,
// which a sender knows that knows the network.
//
// [DlBF10]: docs/papers/dlbf10.md
package inpacket

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them from the plain to the particular.
func Experiments() []lab.Experiment {
	return []lab.Experiment{trees, loops, regions, goals, chains}
}
