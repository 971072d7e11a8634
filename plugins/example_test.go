package plugins_test

import (
	"context"
	"fmt"
	"log"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// The main function of a plugin is one line: it serves strategies in Go until
// the host ends it.
func ExampleServe() {
	var mine strategies.Factory // your strategy
	mine, _ = builtin.Find("markov-2")
	plugins.Serve(mine)
}

// A host opens a plugin and calls its strategies like any other.
func ExampleOpen() {
	all, err := plugins.Open(context.Background(), plugins.Config{Command: []string{"plugins/bin/thue-morse"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range all {
		fmt.Println(f.Info().Name)
		defer f.Close()
	}
}

// A lock file names the programs that have been accepted.
func ExampleParseLock() {
	_, err := plugins.ParseLock([]byte("# accepted\nmine sha256=12\n"))
	fmt.Println(err)
	// Output: 2: invalid field "sha256=12", want sha256= with 64 hex digits, mtls=, dev= or starts= with true or false
}
