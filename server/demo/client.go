package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// A client sends commands to a server, many at a time.
type client struct {
	conn    net.Conn
	r       *bufio.Reader
	buffer  []byte
	waiting int // commands in the buffer
}

func dial(ctx context.Context, addr string) (*client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return &client{conn: conn, r: bufio.NewReader(conn)}, nil
}

// add has a command be sent with the next flush.
func (c *client) add(words ...string) {
	c.buffer = fmt.Appendf(c.buffer, "*%d\r\n", len(words))
	for _, w := range words {
		c.buffer = fmt.Appendf(c.buffer, "$%d\r\n%s\r\n", len(w), w)
	}
	c.waiting++
}

// errRefused is an answer that a demo does not expect.
var errRefused = errors.New("demo: the server refuses")

// flush sends the commands and reads the replies. Sets that exist already are no error.
func (c *client) flush() error {
	_, err := c.conn.Write(c.buffer)
	for ; err == nil && c.waiting > 0; c.waiting-- {
		err = c.skip()
	}
	c.buffer, c.waiting = c.buffer[:0], 0
	return err
}

// skip reads one reply.
func (c *client) skip() error {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return err
	}
	line = strings.TrimRight(line, "\r\n")
	n, _ := strconv.Atoi(line[1:]) // of an array or a string
	switch line[0] {
	case '-':
		if !strings.Contains(line, "exists") && !strings.HasPrefix(line, "-OOM") {
			return fmt.Errorf("%w: %s", errRefused, line[1:])
		}
	case '*':
		for range n {
			if err := c.skip(); err != nil {
				return err
			}
		}
	case '$':
		_, err = io.CopyN(io.Discard, c.r, int64(n)+2)
	}
	return err
}
