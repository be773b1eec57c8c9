// Package packets reads the packets that a gate judges, in every form that there is
// for them.
//
//   - binary: records of 8 bytes, the source address and a word, both big endian:
//
//     | a b c d | w w w w |
//
//   - text: one packet to a line, an address and a word of 8 hexadecimal or 32
//     binary digits; a line that is a question mark and an address is a query. Empty
//     lines and what follows a # are passed over.
//
//   - capture: pcap and pcapng files, with Ethernet (and VLANs), Linux cooked, null
//     or raw IP links. The source is the IPv4 or IPv6 address; the words are the
//     payload of TCP, UDP and ICMP in steps of 4 bytes, big endian, of which one to
//     three left over at the end do not count. Packets that are not IP are passed
//     over. A fragment other than the first has no words.
//
// All forms may be compressed by gzip. [Open] tells captures and gzip by their first
// bytes and text from binary by looking at the first few hundred, or is told. What is
// told to be [Binary] is read as it is, whatever it looks like.
//
// With [Options.Reassemble] the words of TCP come from its streams: in order,
// without repetition, and across the borders of segments. Each segment still is one
// packet, with its own number and time; one that came too early is given after those
// that it follows.
//
// A reader that fails says at which packet, and all before have been read: those of
// damaged captures too, which internal/capture checks.
package packets
