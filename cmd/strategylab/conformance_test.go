package main

import (
	"net"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// freePort sets the variables that it names to ports that nobody listens on, for
// agents that know the ports of the others: port NAME...
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		setFreePort(ts, name)
	}
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	ts.Check(err)
	ts.Setenv("DOCS", docs)
}

func setFreePort(ts *testscript.TestScript, name string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(name, port)
}
