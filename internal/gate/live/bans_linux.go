package live

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/cilium/ebpf"

	"github.com/everbloom-go/everbloom/internal/fault"
)

// key returns the user as the program has it: the first address.
func key(user netip.Prefix) [16]byte { return user.Masked().Addr().As16() }

// Ban has the kernel drop what a user sends. The time is kept by the caller.
func (x *XDP) Ban(user netip.Prefix, _ time.Time) error {
	k := key(user)
	if err := x.maps.bans.Put(k[:], uint64(0)); err != nil {
		return fault.In("live", "ban %v: %w", user, err)
	}
	h := x.mix.hash(binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:]))
	var word [8]byte
	for i := range uint(8) {
		at := int64(h>>x.mix.shift)*64 + int64(8*i)
		if _, err := x.memory.ReadAt(word[:], at); err != nil {
			return err
		}
		set := binary.LittleEndian.Uint64(word[:]) | 1<<(h>>(6*i)&63)
		binary.LittleEndian.PutUint64(word[:], set)
		if _, err := x.memory.WriteAt(word[:], at); err != nil {
			return err
		}
	}
	return nil
}

// Unban ends a ban.
func (x *XDP) Unban(user netip.Prefix) error {
	k := key(user)
	if err := x.maps.bans.Delete(k[:]); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fault.In("live", "unban %v: %w", user, err)
	}
	if x.maps.known == nil {
		return nil
	}
	if err := x.maps.known.Delete(k[:]); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) { // the gate tracks it again
		return fault.In("live", "unban %v: %w", user, err)
	}
	return nil
}
