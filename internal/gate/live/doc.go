// Package live takes packets off a network interface and makes bans hold in the kernel. It
// is for Linux.
//
// # XDP
//
// [OpenXDP] attaches a program that is assembled here, without a compiler or an object file,
// to an interface: in its driver if that can, else in the kernel's generic path. For each
// frame, in this order:
//
//	white list   longest prefix: pass, and nothing else happens
//	bits         one cache line of a Bloom filter of the bans: one bit in each of 8 words
//	bans         only if all bits are set: an exact table, so that no source is dropped by
//	             mistake; a hit drops and counts
//	black list   longest prefix: drop
//	words        if Options.Spare says so, and no pattern begins in a datagram: it passes
//	ring         else up to 16 KiB of the frame go to Go, and the frame passes
//
// The bits are an array that Go writes through shared memory, with a hash of its own whose
// seeds are secret. Unbanning removes the exact entry; bits stay until the next start and
// cost a lookup. Two VLAN tags are skipped; what else is wrapped is not dropped but judged.
//
// The words are the first four bytes of each pattern, whose hashes are searched at every place
// of a datagram, and the first two and the first at its end. A user whose datagram has one is
// watched: all its datagrams go to Go for good, because a chain may go on. So are users that
// send fragments, options or tunnels. Segments of TCP with data always go to Go, which puts
// them in order; acknowledgements do not. The first frame of each user does, to be tracked.
//
// No chain may be missed. [XDP.Watched] returns the watched users for a state, and
// Options.Watched takes them after a restart. If they do not fit into their map (Options.Bans),
// or a frame has IP behind PPPoE, MPLS, a third VLAN tag or LLC, where its source is not known
// here, all frames go to Go from then on, and a counter tells. Known users are in a map that
// forgets those that were not seen for long: the next frame of such a user is a first one.
//
// A full ring loses frames for the gate, never for the network, and counts them. The
// program goes with the process, also if that is killed: nothing stays attached. It needs
// CAP_NET_ADMIN and CAP_BPF, and to spare frames CAP_PERFMON.
//
// # nftables
//
// [OpenNft] makes a table inet everbloom, or of another name, with sets of bans, whose elements
// end by themselves, and rules in prerouting that drop what they match. It needs
// CAP_NET_ADMIN. A table belongs to one process, which holds an abstract socket of the same
// name; one that another program removes is made again with the next ban. It stays if the
// process is killed; [RemoveNft] removes it.
//
// # AF_PACKET
//
// [OpenPacket] reads frames and enforces nothing. It needs CAP_NET_RAW.
package live
