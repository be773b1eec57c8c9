// Package capture reads the frames of capture files, pcap and pcapng, whoever wrote
// them and however damaged they are.
//
// [Unpack] undoes gzip, [Is] tells captures from other input, and a [Reader] gives
// one [Frame] after the other with its link, its time and its number. What a frame
// holds is for the caller to say.
//
// The files are read by gopacket's pcapgo, which trusts its input. So no length
// beyond what is believed (1/4 MB for a packet) is passed on to it, pcapng is checked
// block by block before (blocks.go), and where it still panics, that is an error like
// others. A reader that fails says at which packet, and all before have been read.
package capture
