package live

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// Protocols above Ethernet.
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
)

// parse finds the source and puts it on the stack. R6 is the context, R7 and R8 are the
// limits of the frame, R4 is where IP begins.
func (p *assembler) parse(m *mixing) {
	p.add(asm.Mov.Reg(asm.R6, asm.R1), asm.LoadMem(asm.R7, asm.R6, 0, asm.Word), asm.LoadMem(asm.R8, asm.R6, 4, asm.Word))
	p.need(asm.R7, 14)
	p.add(asm.LoadMem(asm.R3, asm.R7, 12, asm.Half), asm.Mov.Reg(asm.R4, asm.R7), asm.Add.Imm(asm.R4, 14), asm.Mov.Imm(asm.R0, 14))
	for i := range 2 {
		tagged, done := fmt.Sprintf("tag%d", i), fmt.Sprintf("untagged%d", i)
		for _, tag := range []uint16{0x8100, 0x88a8, 0x9100} {
			p.add(asm.JEq.Imm(asm.R3, swap(tag), tagged))
		}
		p.add(asm.Ja.Label(done))
		p.label(tagged)
		p.need(asm.R4, 4)
		p.add(asm.LoadMem(asm.R3, asm.R4, 2, asm.Half), asm.Add.Imm(asm.R4, 4), asm.Add.Imm(asm.R0, 4))
		p.label(done)
		p.add(asm.Mov.Reg(asm.R4, asm.R4)) // carries the label
	}
	p.add(asm.StoreImm(asm.RFP, stackTrie, 128, asm.Word))
	p.add(asm.JEq.Imm(asm.R3, swap(etherIPv6), "ip6"), asm.JEq.Imm(asm.R3, swap(etherIPv4), "ip4"))
	for _, known := range []uint16{0x0806, 0x88cc} { // ARP, LLDP
		p.add(asm.JEq.Imm(asm.R3, swap(known), "other"))
	}
	mixed := "send" // Go goes by the version of IP
	if p.maps.words == nil {
		p.add(asm.Ja.Label("send")) // more tags, PPPoE, MPLS and others: Go looks inside
	} else {
		mixed = "hold"
		p.wrapped()
	}
	p.label("ip4")
	p.need(asm.R4, 20)
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Byte), asm.RSh.Imm(asm.R1, 4), asm.JNE.Imm(asm.R1, 4, mixed))
	p.add(asm.LoadMem(asm.R5, asm.R4, 12, asm.Word))
	p.store(0, asm.StoreImm(asm.RFP, 0, 0, asm.Word))
	p.store(4, asm.StoreImm(asm.RFP, 0, 0, asm.Word))
	p.store(8, asm.StoreImm(asm.RFP, 0, -1<<16, asm.Word)) // ::ffff:
	p.store(12, asm.StoreMem(asm.RFP, 0, asm.R5, asm.Word))
	p.add(asm.Ja.Label("judge"))
	p.source6(m, mixed)
	p.label("judge")
	p.add(asm.StoreMem(asm.RFP, stackIP, asm.R4, asm.DWord), asm.StoreMem(asm.RFP, stackAt, asm.R0, asm.Byte))
}

// source6 puts the source of IPv6 on the stack, and the network that is the user. IPv4 that is
// written as IPv6 is IPv4.
func (p *assembler) source6(m *mixing, mixed string) {
	p.label("ip6")
	p.need(asm.R4, 20)
	p.add(asm.LoadMem(asm.R1, asm.R4, 0, asm.Byte), asm.RSh.Imm(asm.R1, 4), asm.JNE.Imm(asm.R1, 6, mixed))
	p.need(asm.R4, 40)
	for at := int16(0); at < 16; at += 4 {
		p.add(asm.LoadMem(asm.R5, asm.R4, 8+at, asm.Word))
		p.store(at, asm.StoreMem(asm.RFP, 0, asm.R5, asm.Word))
	}
	p.add(asm.LoadMem(asm.R5, asm.R4, 8, asm.DWord), asm.JNE.Imm(asm.R5, 0, "network"),
		asm.LoadMem(asm.R5, asm.R4, 16, asm.Word), asm.LoadImm(asm.R1, 0xffff0000, asm.DWord), asm.JEq.Reg(asm.R5, asm.R1, "judge"))
	p.label("network")
	for i, mask := range m.mask {
		at := int16(4 * i)
		p.add(asm.LoadMem(asm.R5, asm.RFP, stackKey+at, asm.Word), asm.And.Imm32(asm.R5, int32(mask)), asm.StoreMem(asm.RFP, stackKey+at, asm.R5, asm.Word))
	}
}

// store writes four bytes of the source to both places.
func (p *assembler) store(at int16, i asm.Instruction) {
	i.Offset = stackTrie + 4 + at
	p.add(i)
	i.Offset = stackKey + at
	p.add(i)
}
