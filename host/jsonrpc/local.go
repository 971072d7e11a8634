package jsonrpc

import (
	"fmt"
	"mime"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// IsLoopback reports whether a host, without a port, is this machine. Names
// other than localhost may resolve to anything and do not count.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// Source returns the address a request came from, without the port, which a new connection changes.
func (r *Request) Source() string { return peerOf(r.RemoteAddr) }

// Network returns the address a request came from, by which callers are counted: of IPv6 the
// network of 64 bits, since one machine has all its addresses. It is empty for requests from this
// machine.
func (r *Request) Network() string {
	address, err := netip.ParseAddr(r.Source())
	address = address.Unmap().WithZone("")
	switch {
	case err != nil || address.IsLoopback():
		return ""
	case address.Is6():
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}

// MatchHost reports whether a host, without a port, is meant by a pattern: an exact name or
// address, a glob as of path.Match ("*.example.org", "10.0.7.*", "*"), or a prefix ("10.0.0.0/8").
func MatchHost(pattern, host string) bool {
	if prefix, err := netip.ParsePrefix(pattern); err == nil {
		address, _ := netip.ParseAddr(host)
		return prefix.Contains(address.Unmap())
	}
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(host))
	return ok && err == nil
}

// CheckHostPattern reports what is wrong with a pattern of MatchHost.
// Patterns that no host could ever match count as wrong.
func CheckHostPattern(pattern string) error {
	wrong := func(what string) error {
		return fmt.Errorf("allowed host %q %s; use a name or an address (with * for any part), or a prefix such as 10.0.0.0/8", pattern, what)
	}
	host, _, withPort := net.SplitHostPort(pattern)
	switch {
	case pattern == "":
		return wrong("is empty")
	case strings.Contains(pattern, "://"):
		return wrong("is a URL")
	case withPort == nil:
		return wrong("has a port: the host alone is " + strconv.Quote(host))
	case strings.HasPrefix(pattern, "[") && strings.Contains(pattern, ":"):
		return wrong("has brackets, which belong to URLs")
	case strings.Contains(pattern, "/"):
		if _, err := netip.ParsePrefix(pattern); err != nil {
			return wrong("is no prefix")
		}
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return wrong("is no pattern")
	}
	return nil
}

// forwarding are the headers by which a proxy betrays itself.
var forwarding = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// Local reports whether a request comes from a program on this machine. A proxy makes every request
// look local, but says so in a header. A web page can have the browser post to local addresses, but
// the browser adds the page's Origin (https://fetch.spec.whatwg.org/#origin-header), asks first
// whether it may send this content type, and, where the page's own name was made to resolve to a
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

// FarAddress is where other machines reach a server.
type FarAddress struct {
	URL     string
	Network string // of the interface, such as 10.0.7.0/24
}

// Reachable returns the addresses of a server that listens on all interfaces, those of IPv4 first;
// none for one that listens on a host of its own. own is its URL for this machine.
func Reachable(host, own string, addrs func() ([]net.Addr, error)) []FarAddress {
	u, err := url.Parse(own)
	if ip := net.ParseIP(host); err != nil || host != "" && (ip == nil || !ip.IsUnspecified()) {
		return nil
	}
	interfaces, _ := addrs() // without them, only the own address is shown
	var four, six []FarAddress
	for _, a := range interfaces {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() {
			continue
		}
		u.Host = net.JoinHostPort(n.IP.String(), u.Port())
		far := FarAddress{u.String(), (&net.IPNet{IP: n.IP.Mask(n.Mask), Mask: n.Mask}).String()}
		if n.IP.To4() != nil {
			four = append(four, far)
		} else if host != "0.0.0.0" {
			six = append(six, far)
		}
	}
	return append(four, six...)
}
