//go:build !unix

package router

import "net"

// quiet reports whether nothing has arrived on a connection. It cannot be seen.
func quiet(net.Conn) bool { return true }
