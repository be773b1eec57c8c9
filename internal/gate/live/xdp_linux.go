package live

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"math/bits"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
	"github.com/gopacket/gopacket/layers"

	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/fault"
)

// maps are what the program and Go share.
type maps struct {
	allow, block, bits, bans, counters, ring *ebpf.Map

	// Of patterns, and users that are known or watched; nil if all frames are judged.
	words, known, watched *ebpf.Map
}

func (m *maps) all() []**ebpf.Map {
	return []**ebpf.Map{&m.allow, &m.block, &m.bits, &m.bans, &m.counters, &m.ring, &m.words, &m.known, &m.watched}
}

func (m *maps) close() error {
	var errs []error
	for _, one := range m.all() {
		if *one != nil {
			errs = append(errs, (*one).Close())
		}
	}
	return errors.Join(errs...)
}

// XDP is a program at an interface.
type XDP struct {
	maps    maps
	mix     mixing
	memory  *ebpf.Memory // of the bits
	prog    *ebpf.Program
	link    link.Link
	mode    string
	refused error // why frames are not spared
	ring    *ringbuf.Reader
	record  ringbuf.Record
	number  uint64
	prefix  int
	lists   [2]map[netip.Prefix]bool // what is in allow and block
	listed  sync.Mutex               // held while lists change
	black   []netip.Prefix           // as it was given
	except  map[netip.Prefix]bool    // users that it does not hold for

	watching sync.Mutex     // held while the map of watched users is read or closed
	left     []netip.Prefix // users that were watched at Close
	leftAll  bool           // these are all that may be inside a chain

	closing sync.Once
	closed  error
}

const (
	maxNetworks = 1 << 20
	bitsPerBan  = 16
	maxBlocks   = 1 << 16
	knownUsers  = 1 << 17 // of which the gate has seen a frame; one more makes room for itself
)

// OpenXDP attaches the program to an interface.
func OpenXDP(name string, o Options) (x *XDP, err error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fault.In("live", "%s: %w", name, err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, fault.In("live", "XDP: not made for machines that are big endian")
	}
	_ = rlimit.RemoveMemlock() // needed by old kernels only, which say so below
	x = &XDP{lists: [2]map[netip.Prefix]bool{{}, {}}, except: map[netip.Prefix]bool{}}
	defer func() {
		if err != nil {
			err = fault.In("live", "XDP: %w", err)
			_ = x.Close() // there is a more important error
			x = nil
		}
	}()
	if err := x.allocate(o); err != nil {
		return x, err
	}
	if err := x.load(); err != nil {
		return x, err
	}
	if x.ring, err = ringbuf.NewReader(x.maps.ring); err != nil {
		return x, err
	}
	return x, x.attach(device.Index, o.Generic)
}

// load has the kernel verify the program. One that refuses to spare frames gets one that
// does not.
func (x *XDP) load() (err error) {
	build := func() (*ebpf.Program, error) {
		return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "everbloom_gate", Type: ebpf.XDP, License: "Apache-2.0", Instructions: program(&x.mix, &x.maps)})
	}
	if x.prog, err = build(); err == nil || x.maps.words == nil {
		return err
	}
	x.refused = err
	for _, m := range []**ebpf.Map{&x.maps.words, &x.maps.known, &x.maps.watched} {
		if err := (*m).Close(); err != nil {
			return err
		}
		*m = nil
	}
	x.prog, err = build()
	return err
}

// Sparing reports whether clean frames are not sent to the gate, and why not if they should.
func (x *XDP) Sparing() (bool, error) { return x.maps.words != nil, x.refused }

func (x *XDP) attach(index int, generic bool) (err error) {
	if !generic {
		x.mode = "XDP in the driver"
		if x.link, err = link.AttachXDP(link.XDPOptions{Program: x.prog, Interface: index, Flags: link.XDPDriverMode}); err == nil {
			return nil
		}
	}
	x.mode = "XDP, generic"
	x.link, err = link.AttachXDP(link.XDPOptions{Program: x.prog, Interface: index, Flags: link.XDPGenericMode})
	return err
}

// allocate makes the maps.
func (x *XDP) allocate(o Options) (err error) {
	bans, ring := uint32(o.Bans), uint32(o.Ring)
	if bans == 0 {
		bans = 1 << 20
	}
	if ring == 0 {
		ring = 1 << 24
	}
	x.prefix = o.IPv6Prefix
	if x.prefix == 0 {
		x.prefix = 64
	}
	logarithm := bits.Len(uint(min(maxBlocks, max(1, bans*bitsPerBan/512)))) - 1
	blocks := uint32(1) << logarithm
	x.mix.shift = uint(64 - logarithm)
	if logarithm == 0 {
		x.mix.shift, blocks = 63, 2
	}
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails: see crypto/rand
	x.mix.seeds = [2]uint64{binary.LittleEndian.Uint64(random[:8]), binary.LittleEndian.Uint64(random[8:])}
	for i := range x.prefix {
		x.mix.mask[i/32] |= bits.ReverseBytes32(1 << (31 - i%32))
	}
	const noPrealloc, mmapable = 1, 1 << 10
	trie := ebpf.MapSpec{Type: ebpf.LPMTrie, KeySize: 20, ValueSize: 1, MaxEntries: maxNetworks, Flags: noPrealloc}
	specs := []ebpf.MapSpec{
		trie, trie,
		{Type: ebpf.Array, KeySize: 4, ValueSize: 64, MaxEntries: blocks, Flags: mmapable},
		{Type: ebpf.Hash, KeySize: 16, ValueSize: 8, MaxEntries: bans, Flags: noPrealloc},
		{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: counters},
		{Type: ebpf.RingBuf, MaxEntries: ring},
	}
	words := wordsOf(o.Patterns)
	if o.Spare && words != nil {
		specs = append(specs, ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: wordsBytes, MaxEntries: 1},
			ebpf.MapSpec{Type: ebpf.LRUHash, KeySize: 16, ValueSize: 8, MaxEntries: knownUsers},
			ebpf.MapSpec{Type: ebpf.Hash, KeySize: 16, ValueSize: 8, MaxEntries: bans, Flags: noPrealloc})
	}
	for i, spec := range specs {
		if *x.maps.all()[i], err = ebpf.NewMap(&spec); err != nil {
			return err
		}
	}
	if x.maps.words != nil {
		if err := x.maps.words.Put(uint32(0), words); err != nil {
			return err
		}
		if err := x.watch(o.Watched); err != nil {
			return err
		}
	}
	x.memory, err = x.maps.bits.Memory()
	return err
}

// Name returns how the program is attached.
func (x *XDP) Name() string { return x.mode }

// Close detaches the program. It may be called again.
func (x *XDP) Close() error {
	x.closing.Do(func() { x.closed = x.close() })
	return x.closed
}

func (x *XDP) close() error {
	var errs []error
	if x.link != nil {
		errs = append(errs, x.link.Close())
	}
	errs = append(errs, x.unwatch())
	if x.ring != nil {
		errs = append(errs, x.ring.Close())
	}
	if x.prog != nil {
		errs = append(errs, x.prog.Close())
	}
	return errors.Join(append(errs, x.maps.close())...)
}

// Read fills in the next frame. It waits until there is one, or until Close.
func (x *XDP) Read(f *capture.Frame) error {
	if err := x.ring.ReadInto(&x.record); err != nil {
		if errors.Is(err, ringbuf.ErrClosed) {
			err = os.ErrClosed
		}
		return err
	}
	raw := x.record.RawSample
	if len(raw) < recordHead {
		return fault.In("live", "a record of %d bytes", len(raw))
	}
	n := int(binary.LittleEndian.Uint32(raw))
	x.number++
	f.Data, f.Link, f.At, f.Number = raw[recordHead:min(len(raw), recordHead+n)], layers.LinkTypeEthernet, time.Now(), x.number
	return nil
}

// Counters returns what became of frames in the kernel.
func (x *XDP) Counters() map[string]uint64 {
	out := map[string]uint64{}
	for i, name := range counterNames {
		var each []uint64
		if x.maps.counters.Lookup(uint32(i), &each) != nil {
			continue
		}
		for _, n := range each {
			out[name] += n
		}
	}
	return out
}
