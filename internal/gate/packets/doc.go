// Package packets reads the packets that a gate judges.
//
//   - binary: records of 8 bytes, the source address and a word, both big endian:
//
//     | a b c d | w w w w |
//
//   - text: one packet to a line, an address and a word of 8 hexadecimal or 32 binary
//     digits; a line of a question mark and an address is a query. Empty lines and
//     comments after # are skipped.
//
//   - capture: pcap and pcapng files, with Ethernet (and VLANs), Linux cooked, null or
//     raw IP links. The source is the IPv4 or IPv6 address; the words are the payload of
//     TCP, UDP and ICMP in steps of 4 bytes, big endian, without the one to three bytes
//     left over at the end. Frames that are not IP are skipped. A fragment other than
//     the first has no words.
//
// All formats may be compressed by gzip. [Open] tells captures and gzip by their first
// bytes, and text from binary by the first few hundred, unless Options name the format.
// [Binary] input is read as it is, even if it looks like gzip.
//
// With [Options.Reassemble] the words of TCP come from its streams: in order, without
// repetition, and across the borders of segments. Each segment still is one packet, with
// its own number and time; one that came too early is returned after those that it
// follows.
//
// A reader that fails names the packet, and has returned all before.
package packets
