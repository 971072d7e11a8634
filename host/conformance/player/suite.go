package player

import (
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

// Suite returns the checks of a player, in the order in which they run: the
// checks that others need come first, and those that may disturb or end the
// player last.
func Suite() kit.Suite {
	return kit.Suite{Role: kit.Player, Open: open, Checks: slices.Concat(
		kit.RegistrationChecks(kit.Player, func(t *kit.T, url string) *kit.Answer {
			p := with(t)
			return kit.ReadAnswer(t.Post(url, t.Body(kit.Request{Message: p.standings()})))
		}),
		joinChecks(), choiceChecks(), answerChecks(), noticeChecks(), drawChecks(), rpcChecks(), dialectChecks(), fieldChecks(), authChecks(), stateChecks(),
		loadChecks(), hostileChecks(), []kit.Check{forgedEndCheck()},
		kit.EndChecks(kit.Player, func(t *kit.T) []string { return with(t).players() }),
	)}
}
