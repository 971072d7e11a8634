package jsonrpc_test

import (
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Where other machines reach a server.
func TestReachable(t *testing.T) {
	addr := func(text string) net.Addr {
		ip, network, err := net.ParseCIDR(text)
		if err != nil {
			t.Fatal(err)
		}
		return &net.IPNet{IP: ip, Mask: network.Mask}
	}
	all := []net.Addr{addr("127.0.0.1/8"), addr("2001:db8::7/64"), addr("fe80::1/64"), addr("10.0.7.3/24"), &net.UnixAddr{Name: "/socket"}, addr("192.168.1.9/16")}
	four := []jsonrpc.FarAddress{{"http://10.0.7.3:8000/mcp", "10.0.7.0/24"}, {"http://192.168.1.9:8000/mcp", "192.168.0.0/16"}}
	both := append(slices.Clone(four), jsonrpc.FarAddress{"http://[2001:db8::7]:8000/mcp", "2001:db8::/64"})
	for host, want := range map[string][]jsonrpc.FarAddress{"": both, "::": both, "0.0.0.0": four, "127.0.0.1": nil, "10.0.7.3": nil, "example.org": nil} {
		got := jsonrpc.Reachable(host, "http://127.0.0.1:8000/mcp", func() ([]net.Addr, error) { return all, nil })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("listening on %q (-want +got):\n%s", host, diff)
		}
	}
	if got := jsonrpc.Reachable("", "http://127.0.0.1:8000/mcp", func() ([]net.Addr, error) { return nil, errors.New("not allowed") }); got != nil {
		t.Errorf("without interfaces: %v", got)
	}
}
