package kit

import (
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
)

// Judge asks rules of the league about exchanges. A finding ends the check, after its exchanges, or
// all without any, were shown. Otherwise it returns how much was examined, and what was missing.
func (t *T) Judge(exchanges []*judge.Exchange, show func(x *judge.Exchange), rules ...string) (examined int, missing []string) {
	asked := slices.DeleteFunc(judge.Rules(judge.Options{Draw: game.FairDraw()}), func(r judge.Rule) bool { return !slices.Contains(rules, r.ID) })
	for _, o := range slices.Concat(judge.Run(exchanges, asked)...) {
		for _, f := range o.Findings {
			if len(f.Exchanges) == 0 {
				f.Exchanges = exchanges
			}
			for _, x := range f.Exchanges {
				show(x)
			}
			t.Fail("%s", f.Text)
		}
		examined, missing = examined+o.Examined, append(missing, o.Missing...)
	}
	return examined, missing
}
