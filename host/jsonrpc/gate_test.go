package jsonrpc

import "testing"

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestGateClose: a closed gate admits nothing and reports when the last has
// left, whichever way it came in.
func TestGateClose(t *testing.T) {
	t.Parallel()
	g := newGate(10, 10)
	if r := g.enter("a"); r != nil {
		t.Fatalf("enter = %+v", r)
	}
	done := g.follow()
	empty := g.close()
	if isClosed(empty) || g.inFlight() != 2 {
		t.Fatalf("empty with %d in hand", g.inFlight())
	}
	if r := g.enter("a"); r == nil || r.Reason != ReasonBusy {
		t.Errorf("enter after close = %+v, want busy", r)
	}
	if g.follow() != nil {
		t.Error("follow after close is admitted")
	}
	g.leave("a")
	if isClosed(empty) {
		t.Error("empty before the last has left")
	}
	done()
	if !isClosed(empty) || !isClosed(g.close()) {
		t.Error("not empty after the last has left")
	}
	if len(g.peers) != 0 {
		t.Errorf("the gate remembers %v", g.peers)
	}
}

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
