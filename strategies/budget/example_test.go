package budget_test

import (
	"context"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/strategies/budget"
)

// Example bounds a call by time: the watchdog interrupts it, and Leave says why.
func Example() {
	w := budget.NewWatchdog(budget.Limits{Time: 10 * time.Millisecond})
	defer w.Close()
	stop := make(chan struct{})
	g := w.Guard(func() { close(stop) }, 0) // how the interpreter is interrupted
	defer g.Release()
	g.Enter(context.Background())
	<-stop // a call that never ends by itself
	fmt.Println(g.Leave())
	// Output: context deadline exceeded
}
