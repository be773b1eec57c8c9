// Package inpacket forwards packets by Bloom filters in their headers, with no table
// that says where a packet is to go.
//
// The subject is that of [DlBF10], Sec. V. Every directed link of a network has an
// ID. The sender puts the IDs of a delivery tree into a filter of 256 bits
// ([Format.Encode]), and a node sends the packet on over each of its links whose ID is
// in the header ([Header.Has]). The filter errs, so some packets go where they
// should not, and may go round in circles. The deletable filter lets a node take the
// link that it has used out of the header ([Header.Delete]).
package inpacket
