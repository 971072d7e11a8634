package manager

import (
	"context"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Suite returns the checks of a manager, in the order in which they run: those
// before the start of the league come first, then those that read the record
// of the league.
func Suite() kit.Suite {
	open := func(ctx context.Context, s *kit.Session) (kit.Peers, error) { return open(ctx, s, playLeague) }
	return kit.Suite{Role: kit.Manager, Open: open, Checks: slices.Concat(
		[]kit.Check{earlyCheck()}, registrationChecks(), queryChecks(), inputChecks(),
		startChecks(), roundChecks(), messageChecks(), acceptedReportChecks(), refusedReportChecks(),
		standingsChecks(), roundEndChecks(), leagueEndChecks(), lateChecks(), recordedQueryChecks(), retryChecks(), loadChecks(),
	)}
}
