package main

import (
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"

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

// setFreePort chooses below the ports that systems give to servers on port 0 and
// to clients: one of those might take the port before the test does, and the agent
// that waits for its peer there would get to know another one.
func setFreePort(ts *testscript.TestScript, name string) {
	const lowest, count, tries = 10_000, 22_000, 100
	for range tries {
		port := strconv.Itoa(lowest + rand.IntN(count))
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			continue
		}
		ts.Check(l.Close())
		ts.Setenv(name, port)
		return
	}
	ts.Fatalf("no free port in %d tries", tries)
}
