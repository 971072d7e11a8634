package conformance_test

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance"
)

// inSilence are the checks that wait for deadlines to pass. They are made of the
// mutants that are to fail them, and of those without a fault; the others have
// deadlines that a busy machine does not miss.
var inSilence = []string{"referee.fault.join", "referee.fault.choice", "referee.call.whole", "referee.reply.late", "manager.notify.silent"}

// inTime are the checks that measure how long answers take. They are made only of
// the mutants that are to fail them: with so many at once, all are slow.
var inTime = []string{"player.load.speed", "referee.load.speed", "manager.load.speed"}

// others is of how many checks one is made of a mutant that is to pass it, apart from
// those of the subject of its fault and what they need. Which ones differs from mutant
// to mutant. Checks that measure are made after all others.
const others = 24

// wholeSuites says that all are made of each.
var wholeSuites = os.Getenv("WHOLE_TESTS") != ""

// checksOf are those that are made of a mutant: all of them if those that were drawn
// have not shown its fault.
func checksOf(role conformance.Role, mu mutant) []string {
	all := conformance.Checks(role)
	first := slices.IndexFunc(all, func(c conformance.Check) bool { return c.ID == mu.check })
	subject := mu.check[:strings.LastIndex(mu.check, ".")+1]
	whole := wholeSuites || mu.scale > 1 || slices.Contains(inTime, mu.check)
	chosen := make(map[string]bool)
	for i, c := range slices.Backward(all) { // what a check needs is before it
		apart := slices.Contains(inTime, c.ID) || slices.Contains(inSilence, c.ID) && !slices.Contains(inSilence, mu.check)
		drawn := whole || strings.HasPrefix(c.ID, subject) || i%others == first%others
		if c.ID != mu.check && (apart || !drawn && !chosen[c.ID]) {
			delete(chosen, c.ID)
			continue
		}
		chosen[c.ID] = true
		for _, id := range c.Needs {
			chosen[id] = true
		}
		if c.Recorded {
			chosen[string(role)+".hostile.then"] = true
		}
	}
	return slices.Collect(maps.Keys(chosen))
}
