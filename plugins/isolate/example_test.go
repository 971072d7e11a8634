package isolate_test

import (
	"context"
	"fmt"
	"os"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Example loads a script into a worker process of its own. The worker is this
// test binary: its TestMain calls isolate.Serve.
func Example() {
	formats := isolate.Formats(catalog.Formats(), plugins.Config{Command: []string{os.Args[0], "worker"}}, nil)
	cat, err := catalog.Load(context.Background(), catalog.Config{Dir: "../..", Formats: formats, Lazy: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cat.Close()
	e, err := cat.Resolve(context.Background(), "council")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Info.Name, e.Info.Kind)
	// Output: council lua
}
