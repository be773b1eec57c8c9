package live

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// What becomes of frames in the kernel, and the place of its counter.
const (
	countOther = iota // ARP, LLDP and what is too short
	countAllowed
	countDropped
	countConfirmed // the bits claimed a source that is not banned
	countListed
	countSent
	countFull
	countCut
	countSpared // clean: they need not be judged
	countHeld   // sources that cannot be watched: nothing is spared from then on
	counters
)

var counterNames = [counters]string{"other", "allowed", "dropped banned", "not confirmed", "dropped listed", "to the gate", "lost, ring full", "to the gate, cut", Clean, "not to be watched"}

// Actions of XDP.
const (
	xdpDrop = 1
	xdpPass = 2
)

// Three sizes of records, so that small frames take little of the ring. A record begins with
// the bytes that were copied and the length of the frame.
const (
	recordHead  = 8
	smallRecord = 256 - recordHead
	largeRecord = 2048 - recordHead
	jumboRecord = 16<<10 - recordHead
)

// Places on the stack.
const (
	stackKey   = -16 // the user, 16 bytes
	stackTrie  = -40 // a prefix length and the source, 20 bytes
	stackIndex = -44
	stackIP    = -56 // where IP begins
	stackZero  = -64 // a number, 0
	stackNew   = -72 // a number, 1 if the user was not known
	stackWords = -80 // the words of patterns
	stackAt    = -81 // where IP begins in the frame, a byte
	stackMore  = -82 // bytes of its header

	stackWatched = -96 // a number, 1 if the user is watched
)

// mixing is the hash of the bits.
type mixing struct {
	seeds [2]uint64
	shift uint // 64 less the logarithm of the number of blocks
	mask  [4]uint32
}

const (
	mixA = 0x9E3779B97F4A7C15
	mixB = 0xBF58476D1CE4E5B9
)

// hash returns the hash of a user, as the program does.
func (m *mixing) hash(a, b uint64) uint64 {
	h := (a ^ m.seeds[0]) * mixA
	h ^= h >> 32
	h = (h + (b ^ m.seeds[1])) * mixB
	h ^= h >> 29
	h *= mixA
	return h ^ h>>32
}

// program assembles the program.
func program(m *mixing, maps *maps) asm.Instructions {
	p := assembler{maps: maps}
	p.parse(m)
	p.lookup(maps.allow, stackTrie, "not_allowed")
	p.end(countAllowed, xdpPass)
	p.label("not_allowed")
	p.hashed(m)
	p.bits()
	p.lookup(maps.bans, stackKey, "not_confirmed")
	p.add(asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord))
	p.end(countDropped, xdpDrop)
	p.label("not_confirmed")
	p.count(countConfirmed)
	p.label("not_banned")
	next := "send"
	if maps.words != nil {
		next = "spare"
	}
	p.lookup(maps.block, stackTrie, next)
	p.end(countListed, xdpDrop)
	if maps.words != nil {
		p.spare()
	}
	p.send()
	p.label("other")
	p.end(countOther, xdpPass)
	return p.list
}

// assembler collects instructions.
type assembler struct {
	list  asm.Instructions
	maps  *maps
	name  string // of the next instruction
	names int
}

func (p *assembler) add(list ...asm.Instruction) {
	for _, i := range list {
		if p.name != "" {
			i = i.WithSymbol(p.name)
			p.name = ""
		}
		p.list = append(p.list, i)
	}
}

func (p *assembler) label(name string) { p.name = name }

func (p *assembler) unique() string {
	p.names++
	return fmt.Sprintf("l%d", p.names)
}

// swap returns a number of 16 bits in the order of the network, as it is loaded.
func swap(n uint16) int32 { return int32(n<<8 | n>>8) }

// need goes to other unless so many bytes follow a register.
func (p *assembler) need(from asm.Register, bytes int32) { p.needOr(from, bytes, "other") }

// needOr goes to a label unless so many bytes follow a register.
func (p *assembler) needOr(from asm.Register, bytes int32, label string) {
	p.add(asm.Mov.Reg(asm.R2, from), asm.Add.Imm(asm.R2, bytes), asm.JGT.Reg(asm.R2, asm.R8, label))
}

// lookup looks a key on the stack up, and goes to miss if it is not there. R0 is the value.
func (p *assembler) lookup(m *ebpf.Map, key int32, miss string) {
	p.add(asm.LoadMapPtr(asm.R1, m.FD()), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, miss))
}

// count adds one to a counter.
func (p *assembler) count(which int32) {
	done := p.unique()
	p.add(asm.StoreImm(asm.RFP, stackIndex, int64(which), asm.Word))
	p.lookup(p.maps.counters, stackIndex, done)
	p.add(asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord), asm.Add.Imm(asm.R1, 1), asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord))
	p.label(done)
	p.add(asm.Mov.Imm(asm.R0, 0)) // carries the label
}

// end counts and leaves.
func (p *assembler) end(which, action int32) {
	p.count(which)
	p.add(asm.Mov.Imm(asm.R0, action), asm.Return())
}

// hashed puts the hash of the user into R9.
func (p *assembler) hashed(m *mixing) {
	xorShift := func(by int32) {
		p.add(asm.Mov.Reg(asm.R1, asm.R9), asm.RSh.Imm(asm.R1, by), asm.Xor.Reg(asm.R9, asm.R1))
	}
	times := func(by uint64) {
		p.add(asm.LoadImm(asm.R1, int64(by), asm.DWord), asm.Mul.Reg(asm.R9, asm.R1))
	}
	p.add(asm.LoadMem(asm.R9, asm.RFP, stackKey, asm.DWord), asm.LoadImm(asm.R1, int64(m.seeds[0]), asm.DWord), asm.Xor.Reg(asm.R9, asm.R1))
	times(mixA)
	xorShift(32)
	p.add(asm.LoadMem(asm.R2, asm.RFP, stackKey+8, asm.DWord), asm.LoadImm(asm.R1, int64(m.seeds[1]), asm.DWord),
		asm.Xor.Reg(asm.R2, asm.R1), asm.Add.Reg(asm.R9, asm.R2))
	times(mixB)
	xorShift(29)
	times(mixA)
	xorShift(32)
	p.add(asm.Mov.Reg(asm.R1, asm.R9), asm.RSh.Imm(asm.R1, int32(m.shift)), asm.StoreMem(asm.RFP, stackIndex, asm.R1, asm.Word))
}

// bits goes on if all bits of the hash are set.
func (p *assembler) bits() {
	p.lookup(p.maps.bits, stackIndex, "not_banned")
	for i := range int32(8) {
		p.add(asm.LoadMem(asm.R1, asm.R0, int16(8*i), asm.DWord), asm.Mov.Reg(asm.R2, asm.R9), asm.RSh.Imm(asm.R2, 6*i),
			asm.And.Imm(asm.R2, 63), asm.RSh.Reg(asm.R1, asm.R2), asm.And.Imm(asm.R1, 1), asm.JEq.Imm(asm.R1, 0, "not_banned"))
	}
}

// send copies the frame to the ring.
func (p *assembler) send() {
	p.label("send")
	p.add(asm.Mov.Reg(asm.R1, asm.R6), asm.FnXdpGetBuffLen.Call(), asm.Mov.Reg(asm.R9, asm.R0), asm.Mov.Reg(asm.R8, asm.R0))
	p.add(asm.JGT.Imm(asm.R9, smallRecord, "large"))
	p.copyTo(smallRecord)
	p.label("large")
	p.add(asm.JGT.Imm(asm.R9, largeRecord, "jumbo"))
	p.copyTo(largeRecord)
	p.label("jumbo")
	p.add(asm.JLE.Imm(asm.R9, jumboRecord, "fits"))
	p.count(countCut)
	p.add(asm.Mov.Imm(asm.R9, jumboRecord))
	p.label("fits")
	p.copyTo(jumboRecord)
	p.label("full")
	p.end(countFull, xdpPass)
}

// copyTo reserves a record, copies R9 bytes, of the R8 that there are, and leaves.
func (p *assembler) copyTo(size int32) {
	failed := p.unique()
	p.add(asm.JLT.Imm(asm.R9, 14, "other"))
	p.add(asm.LoadMapPtr(asm.R1, p.maps.ring.FD()), asm.Mov.Imm(asm.R2, size+recordHead), asm.Mov.Imm(asm.R3, 0), asm.FnRingbufReserve.Call())
	p.add(asm.JEq.Imm(asm.R0, 0, "full"), asm.Mov.Reg(asm.R7, asm.R0))
	p.add(asm.StoreMem(asm.R7, 0, asm.R9, asm.Word), asm.StoreMem(asm.R7, 4, asm.R8, asm.Word))
	p.add(asm.Mov.Reg(asm.R1, asm.R6), asm.Mov.Imm(asm.R2, 0), asm.Mov.Reg(asm.R3, asm.R7), asm.Add.Imm(asm.R3, recordHead),
		asm.Mov.Reg(asm.R4, asm.R9), asm.FnXdpLoadBytes.Call(), asm.JNE.Imm(asm.R0, 0, failed))
	p.add(asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call())
	p.end(countSent, xdpPass)
	p.label(failed)
	p.add(asm.Mov.Reg(asm.R1, asm.R7), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufDiscard.Call())
	p.end(countFull, xdpPass)
}
