package referee_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/conformance/referee"
)

func ExampleSuite() {
	s := referee.Suite()
	first, last := s.Checks[0], s.Checks[len(s.Checks)-1]
	fmt.Println(s.Role, first.ID, last.ID)
	// Output: referee referee.register.rpc referee.end.again
}
