package manager

import (
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// What counts as the address of a player: of IPv6 the network, and of this machine nothing.
func TestAddressesThatAreBounded(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"10.0.0.7:5000": "10.0.0.7", "[::ffff:10.0.0.7]:5002": "10.0.0.7", "[2001:db8::1]:5000": "2001:db8::/64", "[2001:db8:0:1::3]:5000": "2001:db8:0:1::/64",
		"127.0.0.1:5000": "", "[::1]:5000": "", "stdio": "",
	} {
		if got := boundedAddress(&jsonrpc.Request{RemoteAddr: from}); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}
