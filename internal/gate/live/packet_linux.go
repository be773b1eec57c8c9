package live

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/gopacket/gopacket/layers"
	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/fault"
)

// Packet reads the frames of an interface, and enforces nothing.
type Packet struct {
	fd     int
	buffer []byte
	number uint64
	closed atomic.Bool
	lost   atomic.Uint64
}

// receiveBuffer is what the kernel keeps while the gate is busy.
const receiveBuffer = 1 << 25

// OpenPacket begins to read the frames that come in at an interface.
func OpenPacket(name string) (*Packet, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fault.In("live", "%s: %w", name, err)
	}
	const all = unix.ETH_P_ALL
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all<<8&0xff00|all>>8))
	if err != nil {
		return nil, fault.In("live", "AF_PACKET: %w", err)
	}
	p := &Packet{fd: fd, buffer: make([]byte, 1<<16)}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer) // as much as is allowed
	}
	wait := unix.Timeval{Usec: 200_000} // so that Close is noticed
	err = errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: uint16(all<<8&0xff00 | all>>8), Ifindex: device.Index}),
	)
	if err != nil {
		return nil, errors.Join(fault.In("live", "AF_PACKET: %w", err), p.Close())
	}
	return p, nil
}

// Read fills in the next frame that comes in. It waits until there is one, or until Close.
func (p *Packet) Read(f *capture.Frame) error {
	for {
		if p.closed.Load() {
			return errors.Join(os.ErrClosed, unix.Close(p.fd))
		}
		n, from, err := unix.Recvfrom(p.fd, p.buffer, 0)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOBUFS):
			p.lost.Add(1)
			continue
		case err != nil:
			return fault.In("live", "AF_PACKET: %w", err)
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		p.number++
		f.Data, f.Link, f.At, f.Number = p.buffer[:n], layers.LinkTypeEthernet, time.Now(), p.number
		return nil
	}
}

// Close ends a Read that waits, within a fifth of a second.
func (p *Packet) Close() error {
	p.closed.Store(true)
	return nil
}

// Counters returns what the kernel could not keep.
func (p *Packet) Counters() map[string]uint64 {
	if s, err := unix.GetsockoptTpacketStats(p.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		p.lost.Add(uint64(s.Drops))
	}
	return map[string]uint64{"lost, buffer full": p.lost.Load()}
}
