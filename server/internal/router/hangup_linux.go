package router

import (
	"net"

	"golang.org/x/sys/unix"
)

// hungUp reports whether the client has closed its connection, whatever it has sent before, or the
// connection may not be read any more.
func hungUp(c net.Conn) bool {
	raw, err := socketOf(c)
	if raw == nil {
		return err != nil
	}
	closed := false
	err = raw.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		closed = err == nil && n > 0
		return true
	})
	return err != nil || closed
}
