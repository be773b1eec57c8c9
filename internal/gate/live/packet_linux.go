package live

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gopacket/gopacket/layers"
	"golang.org/x/sys/unix"

	"github.com/everbloom-go/everbloom/internal/capture"
	"github.com/everbloom-go/everbloom/internal/fault"
)

// Packet reads the frames of an interface, and enforces nothing.
type Packet struct {
	socket *os.File
	conn   syscall.RawConn
	buffer []byte
	number uint64
	lost   atomic.Uint64

	// Of the last frame that was received.
	length int
	from   unix.Sockaddr
	err    error
}

// receiveBuffer is what the kernel keeps while the gate is busy.
const receiveBuffer = 1 << 25

// OpenPacket begins to read the frames that come in at an interface.
func OpenPacket(name string) (*Packet, error) {
	device, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fault.In("live", "%s: %w", name, err)
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in the order of the network
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, all)
	if err != nil {
		return nil, fault.In("live", "AF_PACKET: %w", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer) // as much as is allowed
	}
	err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: device.Index})
	p := &Packet{socket: os.NewFile(uintptr(fd), "AF_PACKET"), buffer: make([]byte, 1<<16)}
	if err == nil {
		p.conn, err = p.socket.SyscallConn()
	}
	if err != nil {
		return nil, errors.Join(fault.In("live", "AF_PACKET: %w", err), p.Close())
	}
	return p, nil
}

// receive takes a frame, and reports false if there is none yet.
func (p *Packet) receive(fd uintptr) bool {
	p.length, p.from, p.err = unix.Recvfrom(int(fd), p.buffer, 0)
	return !errors.Is(p.err, unix.EAGAIN)
}

// Read fills in the next frame that comes in. It waits until there is one, or until Close.
func (p *Packet) Read(f *capture.Frame) error {
	for {
		if p.conn.Read(p.receive) != nil {
			return os.ErrClosed
		}
		switch {
		case errors.Is(p.err, unix.EINTR):
			continue
		case errors.Is(p.err, unix.ENOBUFS):
			p.lost.Add(1)
			continue
		case p.err != nil:
			return fault.In("live", "AF_PACKET: %w", p.err)
		}
		if ll, ok := p.from.(*unix.SockaddrLinklayer); ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		p.number++
		f.Data, f.Link, f.At, f.Number = p.buffer[:p.length], layers.LinkTypeEthernet, time.Now(), p.number
		return nil
	}
}

// Close ends a Read that waits.
func (p *Packet) Close() error {
	if err := p.socket.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil // it was closed before
}

// Counters returns what the kernel could not keep.
func (p *Packet) Counters() map[string]uint64 {
	_ = p.conn.Control(func(fd uintptr) { // after Close there is no more to learn
		if s, err := unix.GetsockoptTpacketStats(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			p.lost.Add(uint64(s.Drops))
		}
	})
	return map[string]uint64{"lost, buffer full": p.lost.Load()}
}
