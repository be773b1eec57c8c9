package live

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/cilium/ebpf"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// Lists replaces the black list and the white list.
func (x *XDP) Lists(black, white []netip.Prefix) error {
	x.listed.Lock()
	defer x.listed.Unlock()
	x.black = black
	clear(x.except)
	return errors.Join(x.relist(0, x.maps.allow, white), x.relist(1, x.maps.block, black))
}

// Except has the black list not hold for a user, until Lists.
func (x *XDP) Except(user netip.Prefix) error {
	x.listed.Lock()
	defer x.listed.Unlock()
	x.except[user] = true
	return x.relist(1, x.maps.block, without(x.black, x.except))
}

func (x *XDP) relist(which int, m *ebpf.Map, list []netip.Prefix) error {
	now := map[netip.Prefix]bool{}
	for _, p := range list {
		now[p.Masked()] = true
	}
	for p := range x.lists[which] {
		if !now[p] {
			if err := m.Delete(trieKey(p)); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return fault.In("live", "%v: %w", p, err)
			}
		}
	}
	for p := range now {
		if err := m.Put(trieKey(p), uint8(1)); err != nil {
			return fault.In("live", "%v: %w", p, err)
		}
	}
	x.lists[which] = now
	return nil
}

// trieKey returns a network as the tries have it: IPv4 is inside ::ffff:0:0/96.
func trieKey(p netip.Prefix) []byte {
	length := p.Bits()
	if p.Addr().Is4() {
		length += 96
	}
	a := p.Addr().As16()
	return append(binary.LittleEndian.AppendUint32(nil, uint32(length)), a[:]...)
}
