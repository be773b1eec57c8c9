// Package capture reads the frames of capture files, pcap and pcapng, from any program
// and however damaged.
//
// [Unpack] undoes gzip, [Is] tells captures from other input, and a [Reader] returns one
// [Frame] after the other with its link, its time and its number. It does not decode
// frames.
//
// The files are read by gopacket's pcapgo, which trusts its input. So packets are limited
// to 256 KiB, pcapng is checked block by block before (blocks.go), and a panic of pcapgo
// is an error like others. A reader that fails names the packet, and has returned all
// before.
package capture
