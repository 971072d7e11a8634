package referee

import (
	_ "embed"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

//go:embed checks.txt
var table string

// Suite returns the checks of a referee, in the order in which they run: the
// checks that others need come first, and those that end the league last.
func Suite() kit.Suite {
	announcing := func(t *kit.T) kit.Request {
		r := with(t)
		return r.assigning(r.newMatch(plan{}))
	}
	return kit.Suite{Role: kit.Referee, Open: open, Checks: kit.Checks(kit.Referee, table,
		kit.RegistrationTests(kit.Referee, nil, func(*kit.T) []string { return playerIDs[:] }),
		kit.IDTests(sample), kit.DialectTests(sample), kit.AttackTests(attacks(), announcing),
		kit.For(with, roundTests, messageTests, typeTests(), resultTests, drawTests, replyTests, postedTests, retryTests, faultTests, authTests, loadTests),
		map[string]func(*kit.T){
			"load.stalled": kit.StalledTest(func(t *kit.T) func() *kit.Answer {
				return func() *kit.Answer { return t.Send(sample(t)) }
			}),
			"auth.quiet": kit.QuietTest(func(t *kit.T) kit.Request {
				r := sample(t)
				t.Send(r) // it knows the manager's token then
				return r
			}),
		})}
}
