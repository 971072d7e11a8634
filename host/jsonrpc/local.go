package jsonrpc

import (
	"mime"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// IsLoopback reports whether a host, without a port, is this machine. Names
// other than localhost may resolve to anything and do not count.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// Source returns the address a request came from, without the port, which a
// new connection changes.
func (r *Request) Source() string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return r.RemoteAddr
}

// forwarding are the headers by which a proxy betrays itself.
var forwarding = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// Local reports whether a request comes from a program on this machine. A proxy
// makes every request look local, but says so in a header. A web page can have
// the browser post to local addresses, but the browser adds the page's Origin
// (https://fetch.spec.whatwg.org/#origin-header), asks first whether it may send
// this content type, and, where the page's own name was made to resolve to a
// local address, sends that name as Host.
func (r *Request) Local() bool {
	if r.Transport != TransportHTTP {
		return true // within the process, or its own standard input
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" || len(r.Header.Values("Origin")) > 0 {
		return false
	}
	proxied := slices.ContainsFunc(forwarding[:], func(name string) bool { return len(r.Header.Values(name)) > 0 })
	return !proxied && IsLoopback(hostname(r.Host)) && IsLoopback(r.Source())
}
