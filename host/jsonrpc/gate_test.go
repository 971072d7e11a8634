package jsonrpc

import "testing"

func TestPeerOf(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"192.0.2.1:5000":      "192.0.2.1",
		"[2001:db8::1]:5000":  "2001:db8::1",
		"[fe80::1%eth0]:5000": "fe80::1%eth0",
		"@":                   "@", // a Unix socket
	} {
		if got := peerOf(addr); got != want {
			t.Errorf("peerOf(%q) = %q, want %q", addr, got, want)
		}
	}
}
