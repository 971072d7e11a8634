package jsonrpctest_test

import (
	"net"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

// A server can listen on its address again and again, and no two have the same.
func TestAddress(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			addr := jsonrpctest.Address(t)
			if _, twice := seen.LoadOrStore(addr, true); twice {
				t.Errorf("%s is given twice", addr)
			}
			if conn, err := net.Dial("tcp", addr); err == nil {
				_ = conn.Close()
				t.Errorf("somebody listens on %s", addr)
			}
			for range 2 {
				l, err := net.Listen("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				_ = l.Close()
			}
		})
	}
	all.Wait()
}
