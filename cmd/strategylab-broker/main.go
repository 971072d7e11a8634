// Command strategylab-broker is the broker of a cluster: a NATS server with JetStream.
// "strategylab broker" and "strategylab experiment --cluster embedded" start it, and it
// ends with them.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/strategylab/strategylab/experiments/cluster/broker"
)

func main() {
	if info, err := os.Stdin.Stat(); len(os.Args) > 1 || err == nil && info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(os.Stderr, "strategylab-broker: other programs start this one; run strategylab broker --help")
		os.Exit(2)
	}
	// An experiment that is stopped needs its broker to the end, when it closes the input.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	if err := broker.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "strategylab-broker:", err)
		os.Exit(1)
	}
}
