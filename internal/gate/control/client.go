package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// A Client asks the gate behind a socket.
type Client struct {
	path string
	http http.Client
}

// NewClient returns a client for the socket at path.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Client{path: path, http: http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// Do sends a request to an endpoint, such as bans, and decodes the answer into out, unless
// that is nil.
func (c *Client) Do(ctx context.Context, method, endpoint string, values url.Values, out any) error {
	body, err := c.open(ctx, method, endpoint, values)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was read
	if out == nil {
		return nil
	}
	return json.NewDecoder(body).Decode(out)
}

// Events copies events to w, a JSON object to a line, until the gate or the context ends.
func (c *Client) Events(ctx context.Context, w io.Writer) error {
	body, err := c.open(ctx, http.MethodGet, "events", nil)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was read
	_, err = io.Copy(w, body)
	return err
}

func (c *Client) open(ctx context.Context, method, endpoint string, values url.Values) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://gate/"+endpoint+"?"+values.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		var broken *net.OpError
		if errors.As(err, &broken) {
			err = fmt.Errorf("%s: no gate answers: %w", c.path, broken.Err)
		}
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer func() { _ = res.Body.Close() }() // it was read
	var problem struct {
		Error string `json:"error"`
	}
	if json.NewDecoder(res.Body).Decode(&problem) != nil || problem.Error == "" {
		problem.Error = res.Status
	}
	return nil, errors.New(problem.Error)
}
