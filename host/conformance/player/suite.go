package player

import (
	_ "embed"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

//go:embed checks.txt
var table string

// Suite returns the checks of a player, in the order in which they run: those that others
// need come first, and those that may disturb or end the player last.
func Suite() kit.Suite {
	register := kit.RegistrationTests(kit.Player, func(t *kit.T, url string) *kit.Answer {
		return kit.ReadAnswer(t.Post(url, t.Body(kit.Request{Message: with(t).standings()})))
	}, func(t *kit.T) []string { return with(t).players() })
	return kit.Suite{Role: kit.Player, Open: open, Checks: kit.Checks(kit.Player, table,
		register, kit.IDTests(sample), kit.AttackTests(attacks(), sample),
		kit.For(with, matchTests, noticeTests, drawTests, dialectTests(), fieldTests, authTests),
		map[string]func(*kit.T){
			"load.stalled": kit.StalledTest(stalled),
			"auth.quiet": kit.QuietTest(func(t *kit.T) kit.Request {
				p := with(t)
				p.needsKeys()
				return kit.Request{Message: p.call(p.joined())}
			}),
		})}
}
