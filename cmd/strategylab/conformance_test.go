package main

import (
	"net"

	"github.com/rogpeppe/go-internal/testscript"
)

// freePort sets PORT to one that nobody listens on, for an agent that is told
// where its manager will be.
func freePort(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv("PORT", port)
}
