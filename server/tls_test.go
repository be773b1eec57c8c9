package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writeCertificate writes a certificate for localhost that is its own authority, and returns
// the paths of it and its key.
func writeCertificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, name+".cert"), filepath.Join(dir, name+".key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestClientsNeedACertificate has tls-ca and no users: a client with a certificate of the
// authority is served, one without is not, and one that says nothing is closed.
func TestClientsNeedACertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, "server")
	clientCert, clientKey := writeCertificate(t, dir, "client")
	s := impatient(t, 200*time.Millisecond, "log", "memory", "tls-addr", "127.0.0.1:0", "tls-cert", cert, "tls-key", key, "tls-ca", clientCert)
	addr := s.listeners[1].Addr().String()
	stop := serve(s)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	silent.SetDeadline(time.Now().Add(time.Minute))
	if n, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a client that says nothing: %d bytes, %v", n, err)
	}
	own, err := tls.LoadX509KeyPair(clientCert, clientKey)
	if err != nil {
		t.Fatal(err)
	}
	other, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		present []tls.Certificate
		want    string
	}{{"its own", []tls.Certificate{own}, "+PONG\r\n"}, {"none", nil, ""}, {"that of another authority", []tls.Certificate{other}, ""}} {
		if got := pingTLS(t, addr, cert, c.present); got != c.want {
			t.Errorf("a client with the certificate %s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRefusedHandshakesHoldNothingUp has one client too many, which does not begin its handshake.
func TestRefusedHandshakesHoldNothingUp(t *testing.T) {
	cert, key := writeCertificate(t, t.TempDir(), "server")
	s := start(t, "log", "memory", "maxclients", "1", "tls-addr", "127.0.0.1:0", "tls-cert", cert, "tls-key", key)
	c := dial(t, s.Addr().String())
	c.do("PING")
	silent, err := net.Dial("tcp", s.listeners[1].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for s.host.Stats.Rejected.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := c.do("CLIENT", "LIST"); got[0] != '"' {
		t.Error(got)
	}
}

// pingTLS returns what a server answers to PING.
func pingTLS(t *testing.T, addr, authority string, present []tls.Certificate) string {
	t.Helper()
	text, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: roots, Certificates: present})
	if err != nil {
		return ""
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	conn.Write([]byte("PING\r\n"))
	b := make([]byte, 64)
	n, _ := conn.Read(b)
	return string(b[:n])
}

// TestCertificatesAreReadAgain replaces the files by others, then by what is none.
func TestCertificatesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	first, firstKey := writeCertificate(t, dir, "first")
	second, secondKey := writeCertificate(t, dir, "second")
	c := &certificates{cert: first, key: firstKey}
	name := func() string {
		t.Helper()
		c.looked = time.Time{} // long ago
		got, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.Subject.CommonName
	}
	if got := name(); got != "first" {
		t.Error(got)
	}
	for from, to := range map[string]string{second: first, secondKey: firstKey} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Minute)
		if err := os.Chtimes(to, later, later); err != nil {
			t.Fatal(err)
		}
	}
	if got := name(); got != "second" {
		t.Error("replaced:", got)
	}
	if err := os.WriteFile(first, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "second" {
		t.Error("damaged:", got)
	}
}
