package live

import (
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/everbloom-go/everbloom/internal/gate/packets"
)

// The words of patterns, in one value of a map: a bit for the hash of the first four bytes of
// each pattern, a bit for its first two, and a byte for its first. Letters are in lower case.
// Behind them is a byte that says that nothing is spared any more.
const (
	wordsLog   = 17
	pairsAt    = 1 << wordsLog / 8
	firstsAt   = pairsAt + 1<<16/8
	heldAt     = firstsAt + 256
	wordsBytes = heldAt + 8

	wordBytes = 4
	fold      = 0x20202020
	wordHash  = 0x9E3779B1
	maxScan   = 1472 // bytes of a datagram in a frame of Ethernet
)

// wordsOf returns the value for patterns, or nil if one is too short to have a word.
func wordsOf(patterns [][]byte) []byte {
	b := make([]byte, wordsBytes)
	for _, p := range patterns {
		if len(p) < wordBytes {
			return nil
		}
		word := uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24 | fold
		h := word * wordHash >> (32 - wordsLog)
		b[h/8] |= 1 << (h % 8)
		pair := word & 0xffff
		b[pairsAt+pair/8] |= 1 << (pair % 8)
		b[firstsAt+word&0xff] = 1
	}
	return b
}

// UDP ports of tunnels, and protocols.
var tunnels = []uint16{4789, 8472, 6081, 2152, 3544}

const (
	protocolTCP = 6
	protocolUDP = 17
)

// spare lets frames pass that the gate need not see. A chain is a run of bytes of one flow, so
// a datagram without the beginning of any pattern changes nothing if the flow is outside of
// one: the user has not sent such a beginning before, in a datagram. Then it is watched: all
// its datagrams go to the gate for good, and so do those that are not understood here. Of TCP
// only acknowledgements without data are spared, of which the gate learns nothing. The first
// frame of each user goes to the gate, which tracks it. Known users that are forgotten are
// new again; watched ones are not forgotten.
func (p *assembler) spare() {
	p.label("spare")
	p.add(asm.StoreImm(asm.RFP, stackIndex, 0, asm.Word), asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, stackZero, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, stackNew, asm.R1, asm.DWord), asm.StoreMem(asm.RFP, stackWatched, asm.R1, asm.DWord))
	p.lookup(p.maps.words, stackIndex, "send")
	p.add(asm.LoadMem(asm.R1, asm.R0, heldAt, asm.Byte), asm.JNE.Imm(asm.R1, 0, "send"))
	p.add(asm.StoreMem(asm.RFP, stackWords, asm.R0, asm.DWord))
	p.lookup(p.maps.known, stackKey, "new")
	p.add(asm.Ja.Label("known"))
	p.label("new")
	p.add(asm.Mov.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, stackNew, asm.R1, asm.DWord))
	p.update(p.maps.known)
	p.label("known")
	p.lookup(p.maps.watched, stackKey, "unwatched")
	p.add(asm.Mov.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, stackWatched, asm.R1, asm.DWord))
	p.label("unwatched")
	p.add(asm.LoadMem(asm.R4, asm.RFP, stackIP, asm.DWord))
	p.internet()
	p.acknowledgement()
	p.datagram()
	p.scan()
	p.label("clean")
	p.add(asm.LoadMem(asm.R1, asm.RFP, stackNew, asm.DWord), asm.JNE.Imm(asm.R1, 0, "send"))
	p.end(countSpared, xdpPass)
	p.label("watch")
	p.add(asm.LoadMem(asm.R1, asm.RFP, stackWatched, asm.DWord), asm.JNE.Imm(asm.R1, 0, "send"))
	p.update(p.maps.watched)
	p.add(asm.JEq.Imm(asm.R0, 0, "send"))
	p.hold() // there is no room for another
}

// update puts the user into a map, with a value of 0.
func (p *assembler) update(m *ebpf.Map) {
	p.add(asm.LoadMapPtr(asm.R1, m.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackKey),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackZero), asm.Mov.Imm(asm.R4, 0), asm.FnMapUpdateElem.Call())
}

// hold has nothing spared from now on: the source of the frame cannot be watched.
func (p *assembler) hold() {
	p.label("hold")
	p.add(asm.StoreImm(asm.RFP, stackIndex, 0, asm.Word))
	p.lookup(p.maps.words, stackIndex, "send")
	p.add(asm.StoreImm(asm.R0, heldAt, 1, asm.Byte))
	p.count(countHeld)
	p.add(asm.Ja.Label("send"))
}

// wrapped tells whether Go may find IP in a frame of another protocol, R3, at R4: then it
// may begin a chain of a source that is not known here.
func (p *assembler) wrapped() {
	const llc, snap = 1500, 0xaaaa
	among := func(list []uint16) {
		for _, n := range list {
			p.add(asm.JEq.Imm(asm.R3, swap(n), "hold"))
		}
		p.add(asm.Mov.Reg(asm.R1, asm.R3), asm.HostTo(asm.BE, asm.R1, asm.Half), asm.JGT.Imm(asm.R1, llc, "send"))
	}
	list := packets.Wrappers()
	among(list)
	p.needOr(asm.R4, 10, "send")
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Half), asm.JNE.Imm(asm.R1, snap, "send"), asm.LoadMem(asm.R3, asm.R4, 6, asm.Half))
	among(append(slices.Clone(list), etherIPv4, etherIPv6))
	p.add(asm.LoadMem(asm.R1, asm.R4, 8, asm.Half), asm.JNE.Imm(asm.R1, snap, "send"), asm.Ja.Label("hold"))
}

// internet moves R4 from IP to what is inside. R1 is the protocol, R5 the length.
func (p *assembler) internet() {
	p.needOr(asm.R4, 20, "watch")
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Byte), asm.Mov.Reg(asm.R3, asm.R1), asm.RSh.Imm(asm.R3, 4), asm.JEq.Imm(asm.R3, 6, "inside6"))
	p.add(asm.JNE.Imm(asm.R1, 0x45, "watch")) // options
	p.add(asm.LoadMem(asm.R1, asm.R4, 6, asm.Half), asm.And.Imm(asm.R1, swap(0x3fff)), asm.JNE.Imm(asm.R1, 0, "watch"))
	p.add(asm.LoadMem(asm.R5, asm.R4, 2, asm.Half), asm.HostTo(asm.BE, asm.R5, asm.Half), asm.JLT.Imm(asm.R5, 20, "watch"), asm.Sub.Imm(asm.R5, 20),
		asm.LoadMem(asm.R1, asm.R4, 9, asm.Byte), asm.Add.Imm(asm.R4, 20), asm.StoreImm(asm.RFP, stackMore, 20, asm.Byte), asm.Ja.Label("inside"))
	p.label("inside6")
	p.needOr(asm.R4, 40, "watch")
	p.add(asm.LoadMem(asm.R5, asm.R4, 4, asm.Half), asm.HostTo(asm.BE, asm.R5, asm.Half),
		asm.LoadMem(asm.R1, asm.R4, 6, asm.Byte), asm.Add.Imm(asm.R4, 40), asm.StoreImm(asm.RFP, stackMore, 40, asm.Byte))
	p.label("inside")
	p.add(asm.JEq.Imm(asm.R1, protocolUDP, "udp"), asm.JNE.Imm(asm.R1, protocolTCP, "other_protocol"))
}

// acknowledgement spares TCP without data, and without a beginning or an end.
func (p *assembler) acknowledgement() {
	p.needOr(asm.R4, 20, "send")
	p.add(asm.LoadMem(asm.R1, asm.R4, 13, asm.Byte), asm.And.Imm(asm.R1, 7), asm.JNE.Imm(asm.R1, 0, "send"))
	p.add(asm.LoadMem(asm.R1, asm.R4, 12, asm.Byte), asm.RSh.Imm(asm.R1, 4), asm.LSh.Imm(asm.R1, 2), asm.JNE.Reg(asm.R1, asm.R5, "send"))
	p.add(asm.Ja.Label("clean"))
	p.label("other_protocol") // may be IPv6 with more headers, and UDP behind them
	p.add(asm.JEq.Imm(asm.R1, 1, "send"), asm.JEq.Imm(asm.R1, 58, "send"), asm.Ja.Label("watch"))
}

// datagram leaves R4 at the payload of a datagram, and its length in R5.
func (p *assembler) datagram() {
	p.label("udp")
	p.add(asm.LoadMem(asm.R1, asm.RFP, stackWatched, asm.DWord), asm.JNE.Imm(asm.R1, 0, "send"))
	p.needOr(asm.R4, 8, "watch")
	p.add(asm.LoadMem(asm.R1, asm.R4, 2, asm.Half))
	for _, port := range tunnels {
		p.add(asm.JEq.Imm(asm.R1, swap(port), "watch"))
	}
	p.add(asm.LoadMem(asm.R1, asm.R4, 4, asm.Half), asm.HostTo(asm.BE, asm.R1, asm.Half), asm.JNE.Reg(asm.R1, asm.R5, "watch"))
	p.add(asm.JLT.Imm(asm.R5, 8, "watch"), asm.Sub.Imm(asm.R5, 8), asm.JGT.Imm(asm.R5, maxScan, "watch"))
	// The verifier knows R4 as one of several places, and would go through the loop for each.
	// Of a place made from bytes it knows the limits only.
	p.add(asm.LoadMem(asm.R1, asm.RFP, stackAt, asm.Byte), asm.LoadMem(asm.R2, asm.RFP, stackMore, asm.Byte), asm.Add.Reg(asm.R1, asm.R2),
		asm.Mov.Reg(asm.R4, asm.R7), asm.Add.Reg(asm.R4, asm.R1), asm.Add.Imm(asm.R4, 8))
	p.add(asm.LoadMem(asm.R0, asm.RFP, stackWords, asm.DWord))
}

// scan goes to watch if a pattern may begin in R5 bytes from R4, and else to clean.
func (p *assembler) scan() {
	bit := func(at int32) { // of R1, in a part of the words
		p.add(asm.Mov.Reg(asm.R2, asm.R1), asm.RSh.Imm(asm.R2, 3), asm.Mov.Reg(asm.R3, asm.R0), asm.Add.Reg(asm.R3, asm.R2),
			asm.LoadMem(asm.R2, asm.R3, int16(at), asm.Byte), asm.And.Imm(asm.R1, 7), asm.RSh.Reg(asm.R2, asm.R1),
			asm.And.Imm(asm.R2, 1), asm.JNE.Imm(asm.R2, 0, "watch"))
		p.add(asm.Add.Imm(asm.R4, 1), asm.Sub.Imm(asm.R5, 1))
	}
	hash := uint32(wordHash)
	p.label("scan")
	p.add(asm.JLT.Imm(asm.R5, wordBytes, "rest"))
	p.needOr(asm.R4, wordBytes, "watch")
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Word), asm.Or.Imm(asm.R1, fold), asm.Mul.Imm32(asm.R1, int32(hash)), asm.RSh.Imm32(asm.R1, 32-wordsLog))
	bit(0)
	p.add(asm.Ja.Label("scan"))
	p.label("rest")
	p.add(asm.JLT.Imm(asm.R5, 2, "last"))
	p.needOr(asm.R4, 2, "watch")
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Half), asm.Or.Imm(asm.R1, fold&0xffff))
	bit(pairsAt)
	p.add(asm.Ja.Label("rest"))
	p.label("last")
	p.add(asm.JEq.Imm(asm.R5, 0, "clean"))
	p.needOr(asm.R4, 1, "watch")
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Byte), asm.Or.Imm(asm.R1, fold&0xff), asm.Mov.Reg(asm.R3, asm.R0), asm.Add.Reg(asm.R3, asm.R1),
		asm.LoadMem(asm.R1, asm.R3, firstsAt, asm.Byte), asm.JNE.Imm(asm.R1, 0, "watch"))
}
