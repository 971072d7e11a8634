package assert

import (
	"github.com/strategylab/strategylab/analysis"
)

// Measure is what is asked of a player: a count, or an estimated quantity.
type Measure struct {
	Name     string
	Counted  bool
	Quantity analysis.Quantity // if it is estimated
	count    func(p *analysis.Player) int64
}

// Measures returns all there are, the estimated ones first.
func Measures() []Measure {
	var list []Measure
	for _, q := range analysis.Quantities() {
		list = append(list, Measure{Name: q.String(), Quantity: q})
	}
	counted := func(name string, count func(p *analysis.Player) int64) {
		list = append(list, Measure{Name: name, Counted: true, count: count})
	}
	counted("matches", func(p *analysis.Player) int64 { return p.Matches })
	counted("wins", func(p *analysis.Player) int64 { return p.Wins })
	counted("draws", func(p *analysis.Player) int64 { return p.Draws })
	counted("losses", func(p *analysis.Player) int64 { return p.Losses })
	counted("technical_losses", func(p *analysis.Player) int64 { return p.TechnicalLosses })
	return list
}

func measureNamed(name string) (Measure, bool) {
	for _, m := range Measures() {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}
