package manager_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/conformance/manager"
)

func ExampleSuite() {
	s := manager.Suite()
	first, last := s.Checks[0], s.Checks[len(s.Checks)-1]
	fmt.Println(s.Role, first.ID, last.ID)
	// Output: manager manager.start.early manager.load.speed
}
