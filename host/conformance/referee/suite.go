package referee

import (
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Suite returns the checks of a referee, in the order in which they run: the
// checks that others need come first, and those that end the league last.
func Suite() kit.Suite {
	return kit.Suite{Role: kit.Referee, Open: open, Checks: slices.Concat(
		kit.RegistrationChecks(kit.Referee, nil), roundChecks(), messageChecks(), orderChecks(), resultChecks(), reportChecks(), deliveryChecks(), drawChecks(),
		replyChecks(), postedChecks(), retryChecks(), faultChecks(), deadlineChecks(), authChecks(),
		kit.IDChecks(kit.Referee, nil, sample), []kit.Check{kit.NoIDCheck(kit.Referee, nil, sample)},
		kit.DialectChecks(kit.Referee, nil, sample), kit.MethodChecks(kit.Referee, nil, sample), []kit.Check{unknownFieldsCheck()},
		loadChecks(), hostileChecks(),
		kit.EndChecks(kit.Referee, func(*kit.T) []string { return playerIDs[:] }),
	)}
}
