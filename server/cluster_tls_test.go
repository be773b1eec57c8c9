package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everbloom-go/everbloom/internal/effort"
)

// An authority signs certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	path string // of its certificate
}

func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	a := &authority{t: t, path: filepath.Join(dir, name+".cert")}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = a.write(a.path, "", a.cert)
	return a
}

// sign writes a certificate for this machine and its key.
func (a *authority) sign(name string) (cert, key string) {
	a.t.Helper()
	dir := filepath.Dir(a.path)
	cert, key = filepath.Join(dir, name+".cert"), filepath.Join(dir, name+".key")
	a.write(cert, key, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return cert, key
}

// write signs a certificate and writes it, and its key if that has a path.
func (a *authority) write(cert, key string, template *x509.Certificate) *ecdsa.PrivateKey {
	a.t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	signer := a.key
	if signer == nil {
		signer = secret
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, a.cert, &secret.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		a.t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if path == "" {
			continue
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	return secret
}

// TestClusterTLS has servers that connect to each other by TLS, and one with a certificate that
// the others do not trust.
func TestClusterTLS(t *testing.T) {
	effort.LongOnly(t)
	c := newTrial(t, 3)
	c.ways = nil
	ca, other := newAuthority(t, c.dir, "ca"), newAuthority(t, c.dir, "other")
	secure := func(i int, by, trusts *authority) {
		cert, key := by.sign("of-" + c.nodes[i].name)
		c.nodes[i].settings = []string{"tls-addr", lowAddr(t), "tls-cert", cert, "tls-key", key, "tls-ca", trusts.path}
	}
	for i := range c.nodes {
		secure(i, ca, ca)
	}
	c.start(0, 1, 2)
	c.balanced()
	c.write(0, "tls", 0, 10)
	for i := range c.nodes {
		for p := range c.partitions {
			if got := c.must(i, "CF.COUNT", c.key("tls", p), "item7"); got != ":1" {
				t.Errorf("%s: partition %d: %s", c.nodes[i].name, p, got)
			}
		}
	}
	status, err := c.status(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range status.Nodes {
		if want := c.nodes[i].settings[1]; o.Address != want {
			t.Errorf("%s is reached at %s, not by TLS at %s", o.Node, o.Address, want)
		}
	}
	for _, trusts := range []*authority{ca, other} { // the others do not trust it; then it does not trust them, either
		c.kill(2)
		secure(2, other, trusts)
		before := [3]int{len(c.nodes[0].said()), len(c.nodes[1].said()), len(c.nodes[2].said())}
		c.spawn(2)
		c.until("it is told", func() error {
			for i, o := range c.nodes {
				if strings.Contains(o.said()[before[i]:], "TLS route handshake error") {
					return nil
				}
			}
			return errNotYet
		})
		c.led(0, 1)
		select {
		case err := <-c.nodes[2].ready:
			t.Error("it has joined, or ended:", err)
		default:
		}
	}
	c.kill(2)
	secure(2, ca, ca)
	c.start(2)
	c.whole()
}
