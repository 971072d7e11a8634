package jsonrpc

import (
	"net"
	"net/url"
)

// FarAddress is where other machines reach a server.
type FarAddress struct {
	URL     string
	Network string // of the interface, such as 10.0.7.0/24
}

// Reachable returns the addresses of a server that listens on all interfaces, those of
// IPv4 first; none for one that listens on a host of its own. own is its URL for this
// machine.
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
