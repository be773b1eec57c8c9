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
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
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
