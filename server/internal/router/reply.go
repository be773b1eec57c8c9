package router

import (
	"bytes"
	"errors"

	"github.com/everbloom-go/everbloom/server/internal/resp"
)

// errReply is about bytes of a leader that are not replies.
var errReply = errors.New("router: a node has sent bytes that are not replies: run the same release on all nodes")

// maxDepth is how deep arrays of replies may be nested.
const maxDepth = 16

// cut returns the first reply of b, and what stands behind it.
func cut(b []byte) (reply, rest []byte, err error) {
	n, ok := replySize(b, 0, maxDepth)
	if !ok {
		return nil, nil, errReply
	}
	return b[:n], b[n:], nil
}

// replySize returns where the reply ends that begins at a position.
func replySize(b []byte, at, depth int) (end int, ok bool) {
	kind, n, at, ok := replyHead(b, at)
	if !ok || depth == 0 {
		return 0, false
	}
	switch kind {
	case '+', '-', ':', '#', ',', '_', '(':
		return at, true
	case '$', '=', '!':
		if n < 0 {
			return at, true
		}
		if n > int64(len(b)-at-2) {
			return 0, false
		}
		return at + int(n) + 2, true
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return 0, false
	}
	for ; n > 0; n-- {
		if at, ok = replySize(b, at, depth-1); !ok {
			return 0, false
		}
	}
	return at, true
}

// replyHead returns the kind of the reply at a position, its number if it has one, and where
// its first line ends.
func replyHead(b []byte, at int) (kind byte, n int64, end int, ok bool) {
	if at >= len(b) {
		return 0, 0, 0, false
	}
	i := bytes.IndexByte(b[at:], '\n')
	if i < 2 || b[at+i-1] != '\r' {
		return 0, 0, 0, false
	}
	kind, end = b[at], at+i+1
	switch kind {
	case '$', '=', '!', '*', '~', '>', '%':
		n, ok = resp.ParseInt(b[at+1 : at+i-1])
		return kind, n, end, ok && n < 1<<31
	}
	return kind, 0, end, true
}

// number returns the number that a reply is, 0 if it is none.
func number(reply []byte) int64 {
	if len(reply) < 4 || reply[0] != ':' {
		return 0
	}
	n, _ := resp.ParseInt(reply[1 : len(reply)-2]) // 0 if it is none
	return n
}

// text returns the text that a reply is, false if there is none.
func text(reply []byte) (s []byte, ok bool) {
	kind, n, at, ok := replyHead(reply, 0)
	if !ok || kind != '$' || n < 0 || at+int(n) > len(reply) {
		return nil, false
	}
	return reply[at : at+int(n)], true
}

// elements returns how many replies an array has, and their bytes: none if it is not one.
func elements(reply []byte) (n int, inner []byte) {
	kind, count, at, ok := replyHead(reply, 0)
	if !ok || kind != '*' || count < 0 {
		return 0, nil
	}
	return int(count), reply[at:]
}

// failed reports whether a reply is an error.
func failed(reply []byte) bool { return len(reply) > 0 && reply[0] == '-' }
