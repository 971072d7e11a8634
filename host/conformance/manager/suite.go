package manager

import (
	_ "embed"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

//go:embed checks.json
var checks []byte

// Suite returns the checks of a manager, in the order in which they run: those before the start of
// the league come first, then those that read the record of the league.
func Suite() kit.Suite {
	return kit.Suite{Open: open, Checks: kit.Checks(kit.Manager, checks,
		kit.IDTests(sample), kit.DialectTests(sample), kit.AttackTests(kit.Attacks("report_match_result"), sample),
		kit.For(with, registrationTests, startTests, queryTests, authTests, sentTests, tableTests, reportTests, refusalTests()),
		map[string]func(*kit.T){
			"fields.unknown": func(t *kit.T) {
				r := sample(t)
				r.Edit = kit.Set("x_weather", "sunny")
				t.NeedsAccepted()
				t.Accepted(t.Send(r), "")
			},
			"load.stalled": kit.StalledTest(func(t *kit.T) func() *kit.Answer {
				return func() *kit.Answer { return t.Send(sample(t)) }
			}),
			"hostile.then": func(t *kit.T) {
				if a := t.Send(sample(t)); a.Err != nil || !t.Control(a) {
					t.Accepted(a, "")
				}
			},
			"auth.quiet": kit.QuietTest(sample),
		})}
}
