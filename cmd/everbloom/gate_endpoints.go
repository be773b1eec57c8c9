package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/everbloom-go/everbloom/internal/gate/control"
)

// endpoints are where a gate is asked things.
type endpoints struct {
	socket, metrics net.Listener // nil if there is none
	servers         []*http.Server
}

// bind takes the sockets; requests wait until serve.
func (d *gateDaemon) bind() (*endpoints, error) {
	e := &endpoints{}
	var err error
	if d.socket != "" {
		if e.socket, err = control.Listen(d.socket); err != nil {
			return nil, fmt.Errorf("--socket: %w", systemReason(err))
		}
	}
	if d.metrics != "" {
		if e.metrics, err = net.Listen("tcp", d.metrics); err != nil {
			e.close()
			return nil, fmt.Errorf("--metrics: %w", err)
		}
	}
	return e, nil
}

// serve begins to answer.
func (e *endpoints) serve(c *control.Server) {
	metrics := http.NewServeMux()
	metrics.Handle("GET /metrics", c.Metrics())
	begin := func(l net.Listener, h http.Handler) {
		if l == nil {
			return
		}
		s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
		e.servers = append(e.servers, s)
		go func() { _ = s.Serve(l) }() // it ends with Close
	}
	begin(e.socket, c.Handler())
	begin(e.metrics, metrics)
}

// close may be called again.
func (e *endpoints) close() {
	for _, s := range e.servers {
		_ = s.Close() // it goes on to close the listeners
	}
	for _, l := range []*net.Listener{&e.socket, &e.metrics} {
		if *l != nil {
			_ = (*l).Close() // or the server has closed it
			*l = nil
		}
	}
}
