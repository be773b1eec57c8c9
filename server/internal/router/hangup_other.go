//go:build !linux

package router

import "net"

// hungUp reports whether the client has closed its connection. It cannot be seen.
func hungUp(net.Conn) bool { return false }
