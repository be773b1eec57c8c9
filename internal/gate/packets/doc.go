// Package packets reads the packets that a gate judges.
//
//   - binary: records of 8 bytes, the source address and a word, both big endian:
//
//     | a b c d | w w w w |
//
//   - text: one packet to a line, an address and words of 8 hexadecimal or 32 binary
//     digits, with a time in front or not (2006-01-02T15:04:05Z); a line of a question
//     mark and an address is a query. Empty lines and comments after # are skipped.
//
//   - capture: pcap and pcapng files. The source is an IPv4 or IPv6 address. The payload is
//     that of TCP, of UDP or whatever follows IP.
//
// Captures may have links and layers as networks have them (layers.go): Ethernet with tags,
// Linux cooked, PPP, FDDI, 802.11, NFLOG and others; VLANs, MPLS, PPPoE; packets inside
// packets by GRE, IP in IP, VXLAN, Geneve, GTP and Teredo. Frames that are not IP are
// skipped, and counted by what they are.
//
// Fragments are put together, and the payload of TCP comes from its streams: in order,
// without repetition. Each segment still is one packet, with its own number and time; one
// that came too early is returned after those that it follows. What waits is limited to
// some megabytes in all.
//
// Text and captures may be compressed by gzip. [Open] tells captures from text by their
// first bytes, and refuses what is neither: records are read only if [Options] say so, and
// as they are, even if they look like gzip.
//
// A reader that fails names the packet, and has returned all before.
package packets
