// Package inpacket holds the experiments on filters in packet headers, of which [DlBF10]
// speaks in Sec. I and Sec. V without measuring them: forwarding along the links of a
// delivery tree as in LIPSIN, and chains of services. Why no receiver is missed and why
// deletion makes nothing worse is proved in docs/design/0006-inpacket.md.
//
// The network is made up, by seed: few nodes have many links, and many have few. Every
// trial draws a tree, or a chain, and hashes of its own for all contenders:
//
//	plain              one mark, which costs a bit: a Bloom filter of the other bits
//	deleting           a tenth of the bits for marks; what was used is deleted
//	kept               the headers of deleting, but nothing is deleted: for pairs
//	..., by mistakes   the best of 16 headers, by one of the goals; its number costs 4 bits
//	..., never back    nodes do not send a packet back over the link it came by
//
// [DlBF10]: docs/papers/dlbf10.md
package inpacket

import "github.com/everbloom-go/everbloom/internal/lab"

// Experiments returns them from the plain to the particular.
func Experiments() []lab.Experiment { return lab.OfPaper("[DlBF10]", trees, chains) }
