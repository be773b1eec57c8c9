package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A client speaks the Redis protocol, version 2.
type client struct {
	conn net.Conn
	r    *bufio.Reader
	name string // of the server, without a password
}

// A replyError is an error that a server answers.
type replyError string

func (e replyError) Error() string { return string(e) }

// maxWait is how long a reply may take.
const maxWait = 5 * time.Minute

// dial connects to redis://[user:password@]host[:port][/database], or rediss:// for TLS.
func dial(ctx context.Context, address string) (*client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("transfer: not an address such as redis://127.0.0.1:6379")
	case u.Scheme != "redis" && u.Scheme != "rediss" || u.Hostname() == "":
		return nil, fmt.Errorf("transfer: %s: not an address such as redis://127.0.0.1:6379", u.Redacted())
	}
	port := u.Port()
	if port == "" {
		port = "6379"
	}
	c := &client{name: u.Redacted()}
	target := net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "rediss" {
		c.conn, err = new(tls.Dialer).DialContext(ctx, "tcp", target)
	} else {
		c.conn, err = new(net.Dialer).DialContext(ctx, "tcp", target)
	}
	if err != nil {
		return nil, fmt.Errorf("transfer: %s: %w", c.name, err)
	}
	c.r = bufio.NewReaderSize(c.conn, 1<<16)
	if err := c.enter(ctx, u); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// enter logs in and chooses the database.
func (c *client) enter(ctx context.Context, u *url.URL) error {
	if password, ok := u.User.Password(); ok {
		login := []any{"AUTH", u.User.Username(), password}
		if u.User.Username() == "" {
			login = []any{"AUTH", password}
		}
		if _, err := c.do(ctx, login...); err != nil {
			return err
		}
	}
	if db := strings.Trim(u.Path, "/"); db != "" {
		if _, err := c.do(ctx, "SELECT", db); err != nil {
			return err
		}
	}
	_, err := c.do(ctx, "PING")
	return err
}

// Ask sends one command to the server at an address, and returns its reply, which must be a
// string.
func Ask(ctx context.Context, address string, words ...string) ([]byte, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	args := make([]any, len(words))
	for i, w := range words {
		args[i] = w
	}
	reply, err := c.do(ctx, args...)
	if err != nil {
		return nil, err
	}
	text, ok := reply.([]byte)
	if !ok {
		return nil, fmt.Errorf("transfer: %s: %s: not a reply of everbloom", c.name, strings.Join(words, " "))
	}
	return text, nil
}

func (c *client) close() { _ = c.conn.Close() } // nothing is left to be sent

// do sends a command and returns its reply: an int64, a string, bytes, nil or a list of these.
func (c *client) do(ctx context.Context, args ...any) (any, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		word, ok := a.([]byte)
		if !ok {
			word = fmt.Append(nil, a)
		}
		fmt.Fprintf(&b, "$%d\r\n", len(word))
		b.Write(word)
		b.WriteString("\r\n")
	}
	if err := c.conn.SetDeadline(time.Now().Add(maxWait)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := c.conn.Write(b.Bytes())
	var reply any
	if err == nil {
		reply, err = c.read(maxDepth)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("transfer: %s: %s: %w", c.name, args[0], err)
	}
	return reply, nil
}

// maxDepth is how deep lists are in replies, at most.
const maxDepth = 4

// read reads a reply with lists of a depth.
func (c *client) read(depth int) (any, error) {
	b, err := c.r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	line := strings.TrimRight(string(b), "\r\n")
	if line == "" {
		return nil, fmt.Errorf("an empty line in place of a reply")
	}
	rest := line[1:]
	switch line[0] {
	case '+':
		return rest, nil
	case '-':
		return nil, replyError(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q in place of a reply", line)
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		return c.bulk(n)
	case line[0] == '*' && depth > 0:
		return c.list(n, depth-1)
	}
	return nil, fmt.Errorf("%q in place of a reply", line)
}

// bulk reads bytes. Memory follows those that arrive.
func (c *client) bulk(n int64) (any, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, c.r, n); err != nil {
		return nil, err
	}
	_, err := c.r.Discard(2)
	return b.Bytes(), err
}

func (c *client) list(n int64, depth int) (any, error) {
	var list []any
	for range n {
		one, err := c.read(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}
