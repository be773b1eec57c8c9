package console

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// cookieOf returns the cookie of a login as a request of this kind may have it. Browsers send a
// cookie to all ports of a host, so that its name has the port.
func cookieOf(r *http.Request) http.Cookie {
	name := "everbloom-console"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err == nil {
			name += "-" + strconv.FormatUint(n, 10)
		}
	}
	return http.Cookie{Name: name, Path: "/console/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: encrypted(r)}
}

// encrypted reports whether the browser has sent a request over TLS, to this server or to a
// proxy on the same machine.
func encrypted(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false
	}
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(first), "https")
}

// secretOf returns the secret of the login in the cookie of a request, empty if there is none.
func secretOf(r *http.Request) string {
	cookie := cookieOf(r)
	if found, err := r.Cookie(cookie.Name); err == nil {
		return found.Value
	}
	return ""
}
