// Package inpacket holds the experiments on filters in packet headers, of which [DlBF10]
// speaks in Sec. I and Sec. V without measuring them: forwarding along the links of a
// delivery tree as in LIPSIN, and chains of services. Why no receiver is missed and why
// deletion makes nothing worse is proved in docs/design/0006-inpacket.md.
//
// Networks are made up, by seed: one with hubs, and a ring with chords, in which all nodes
// have about four links. Headers have 256 bits in all, with the marks and the number of the
// candidate. Every trial draws a tree and hashes of its own for all contenders:
//
//	plain              one mark, which costs a bit: a Bloom filter of the other 255
//	deleting           a tenth of the bits for marks; links are deleted as they are used
//	kept               the headers of deleting, but nothing is deleted: for pairs
//	..., chosen        the best of 16 headers by mistakes on links that lead out of the tree
//	..., never back    nodes do not send a packet back over the link it came by
//
// [DlBF10]: docs/papers/dlbf10.md
package inpacket

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them from the plain to the particular.
func Experiments() []lab.Experiment {
	return []lab.Experiment{trees, goals, chains}
}
