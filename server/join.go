package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/everbloom-go/everbloom/server/internal/cluster"
)

// dialer returns what connects to other servers; nil means TCP.
func (s *Server) dialer(t *tls.Config) func(context.Context, string) (net.Conn, error) {
	if t == nil {
		return s.hooks.dial
	}
	d := &tls.Dialer{Config: t}
	return func(ctx context.Context, address string) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }
}

// peerTLS returns how nodes connect to each other if clients must have certificates; else nil.
func (s *Server) peerTLS() (*tls.Config, error) {
	if s.settings.Get("tls-ca") == "" || s.settings.Get("tls-addr") == "" {
		return nil, nil
	}
	return tlsConfig(s.settings)
}

// clusterConfig returns what the settings say about the cluster. How to connect to NATS servers is
// in their URLs.
func (s *Server) clusterConfig(encryption *tls.Config) (cluster.Config, error) {
	dir := filepath.Join(s.folder.path, "cluster")
	c := cluster.Config{Namespace: s.settings.Get("namespace"), Cache: filepath.Join(dir, "images"), Logger: s.logger, LogBytes: s.hooks.logBytes}
	if s.settings.Get("nats") == "" {
		c.Name, c.Addr, c.Dir, c.TLS = s.settings.Get("member"), s.settings.Get("peers-addr"), filepath.Join(dir, "jetstream"), encryption
		return c, s.readPeers(&c)
	}
	c.URLs, c.Credentials, c.Name = s.settings.Get("nats"), s.settings.Get("nats-creds"), s.settings.Get("node")
	if c.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return c, fmt.Errorf("server: name this server with --node: %w", err)
		}
		c.Name = name
	}
	return c, nil
}

// localSecret is that of members that cannot be reached from other machines.
const localSecret = "everbloom"

// readPeers reads the list of members.
func (s *Server) readPeers(c *cluster.Config) error {
	local := true
	for one := range strings.SplitSeq(s.settings.Get("peers"), ",") {
		name, addr, _ := strings.Cut(strings.TrimSpace(one), "=")
		host, _, err := net.SplitHostPort(addr)
		if name == "" || err != nil {
			return fmt.Errorf("server: peers: %q is not a name and an address such as n1=10.0.0.1:7000", one)
		}
		c.Peers = append(c.Peers, cluster.Peer{Name: name, Addr: addr})
		local = local && isLoopback(host)
	}
	path := s.settings.Get("peers-secret")
	switch {
	case path != "":
		secret, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("server: peers-secret: %w", err)
		}
		c.Secret = strings.TrimSpace(string(secret))
	case local:
		c.Secret = localSecret
	default:
		return errors.New("server: peers can be reached from other machines: name a file with a secret that all members share with --peers-secret")
	}
	return nil
}

// advertised returns where other servers and clients reach this one, with or without TLS.
func (s *Server) advertised(encrypted bool) (string, error) {
	if addr := s.settings.Get("advertise"); addr != "" {
		return addr, nil
	}
	l := s.listeners[0]
	if encrypted {
		l = s.listeners[1]
	}
	addr := l.Addr().String()
	host, _, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err != nil || ip.IsUnspecified() {
		return "", fmt.Errorf("server: %s is not an address that others can connect to: name one with --advertise", addr)
	}
	return addr, nil
}

// sayEvery is how often it is said that another server cannot be reached: every command tries.
const sayEvery = 5 * time.Second

// unreached says that another server cannot be reached.
func (n *node) unreached(address string, err error) {
	now, last := time.Now().UnixNano(), n.failed.Load()
	if time.Duration(now-last) >= sayEvery && n.failed.CompareAndSwap(last, now) {
		n.server.logger.Warn("another server cannot be reached", "address", address, "error", err)
	}
}
