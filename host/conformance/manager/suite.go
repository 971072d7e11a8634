package manager

import (
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Suite returns the checks of a manager, in the order in which they run: those
// before the start of the league come first, then those that read the record
// of the league.
func Suite() kit.Suite {
	return kit.Suite{Role: kit.Manager, Open: open, Checks: slices.Concat(
		[]kit.Check{earlyCheck()}, registrationChecks(), queryChecks(), inputChecks(), authChecks(),
		faultyRegistrationChecks(), startChecks(), roundChecks(), messageChecks(), acceptedReportChecks(), refusedReportChecks(),
		standingsChecks(), roundEndChecks(), leagueEndChecks(), lateChecks(), recordedQueryChecks(), retryChecks(), loadChecks(),
	)}
}
