//go:build unix

package router

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// quiet reports whether nothing has arrived on a connection: between requests all that can
// arrive is its end.
func quiet(c net.Conn) bool {
	raw, err := socketOf(c)
	if raw == nil {
		return err == nil
	}
	open := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:]) // sockets of Go do not block
		open = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && open
}

// socketOf returns the socket of a connection, also of one with TLS; nil if it has none.
func socketOf(c net.Conn) (syscall.RawConn, error) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if sc, ok := c.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, nil //nolint:nilnil // as documented
}
