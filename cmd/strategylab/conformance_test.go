package main

import (
	"net"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
)

// freePort sets the variables that it names to ports that nobody listens on, for
// agents that know the ports of the others: port NAME...
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		_, port, err := net.SplitHostPort(jsonrpctest.Address(ts))
		ts.Check(err)
		ts.Setenv(name, port)
	}
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	ts.Check(err)
	ts.Setenv("DOCS", docs)
}
