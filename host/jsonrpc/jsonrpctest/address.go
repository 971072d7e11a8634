// Package jsonrpctest is for tests of programs that call each other, and that find each other by address.
package jsonrpctest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// given are the ports that tests of this process have.
var given sync.Map

// Address returns an address of this machine, 127.0.0.1:PORT, on which nobody
// listens: for a server that starts late or again on the same address, or never.
// The port is below those that systems give to servers on port 0 and to clients:
// one of these could take it while the test does not listen, and an agent that waits
// for its peer there would meet another program. It is safe for concurrent use.
func Address(t interface {
	Fatalf(format string, args ...any)
}) string {
	const lowest, count, tries = 10_000, 22_000, 100
	for range tries {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+rand.IntN(count)))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		_ = l.Close()
		if _, again := given.LoadOrStore(addr, true); !again {
			return addr
		}
	}
	t.Fatalf("no free port in %d tries", tries)
	return ""
}
