package console

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestCookies tells servers at several ports of a host apart, and keeps cookies that came over
// TLS to connections with TLS.
func TestCookies(t *testing.T) {
	for _, c := range []struct {
		host, from, proto string
		tls               *tls.ConnectionState
		name              string
		secure            bool
	}{
		{"localhost:6380", "127.0.0.1:9", "", nil, "everbloom-console-6380", false},
		{"[::1]:6381", "[::1]:9", "http", nil, "everbloom-console-6381", false},
		{"example.com", "127.0.0.1:9", "https", nil, "everbloom-console", true},
		{"example.com:08443", "[::ffff:127.0.0.1]:9", "HTTPS, http", nil, "everbloom-console-8443", true},
		{"example.com:x;y", "127.0.0.1:9", "http, https", nil, "everbloom-console", false},
		{"example.com", "192.0.2.1:9", "https", nil, "everbloom-console", false},
		{"example.com:443", "192.0.2.1:9", "", new(tls.ConnectionState), "everbloom-console-443", true},
	} {
		r := httptest.NewRequest(http.MethodGet, "/console/", http.NoBody)
		r.Host, r.RemoteAddr, r.TLS = c.host, c.from, c.tls
		r.Header.Set("X-Forwarded-Proto", c.proto)
		if got := cookieOf(r); got.Name != c.name || got.Secure != c.secure || !got.HttpOnly || got.SameSite != http.SameSiteStrictMode || got.Path != "/console/" {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
