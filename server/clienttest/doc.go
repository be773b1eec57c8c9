// Package clienttest runs clients of Redis against a server. It is a module of its own, so
// that the clients are no requirement of everbloom.
package clienttest
