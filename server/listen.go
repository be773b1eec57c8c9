package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// listen opens the listeners, and answers that the server loads until it serves.
func (s *Server) listen() error {
	l, err := net.Listen("tcp", s.settings.Get("addr"))
	if err != nil {
		return fmt.Errorf("server: %w: choose another address with --addr", err)
	}
	s.listeners = append(s.listeners, l)
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		s.host.Port = tcp.Port
	}
	if addr := s.settings.Get("tls-addr"); addr != "" {
		config, err := tlsConfig(s.settings)
		if err != nil {
			return err
		}
		l, err := tls.Listen("tcp", addr, config)
		if err != nil {
			return fmt.Errorf("server: %w: choose another address with --tls-addr", err)
		}
		s.listeners = append(s.listeners, l)
	}
	if s.web, err = s.listenWeb(s.settings.Get("http")); err != nil {
		return err
	}
	for _, l := range s.listeners {
		s.wg.Go(func() { s.accept(l) })
	}
	return nil
}

// allowAddresses refuses to listen where others can connect if there is no login.
func allowAddresses(settings *Settings, login bool) error {
	if login {
		return nil
	}
	for _, name := range []string{"addr", "tls-addr", "http"} {
		addr := settings.Get(name)
		if addr == "" || name == "http" && addr == "off" || name == "tls-addr" && settings.Get("tls-ca") != "" {
			continue
		}
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return fmt.Errorf("server: %s: %w", name, err)
		}
		if !isLoopback(host) {
			return fmt.Errorf("server: %s %s can be reached from other machines, and there are no users: name a users file with --users, or listen on 127.0.0.1", name, addr)
		}
	}
	return nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// tlsConfig reads certificates. That of the server is read again when its files have changed.
func tlsConfig(settings *Settings) (*tls.Config, error) {
	certFile, keyFile := settings.Get("tls-cert"), settings.Get("tls-key")
	if certFile == "" || keyFile == "" {
		return nil, errors.New("server: tls-addr needs --tls-cert and --tls-key")
	}
	certs := &certificates{cert: certFile, key: keyFile}
	if _, err := certs.get(nil); err != nil {
		return nil, fmt.Errorf("server: certificate: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certs.get}
	if ca := settings.Get("tls-ca"); ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("server: tls-ca: %w", err)
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("server: tls-ca: %s has no certificates", ca)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.RootCAs = config.ClientCAs // of other servers, which this one connects to
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certs.get(nil) }
	}
	return config, nil
}
