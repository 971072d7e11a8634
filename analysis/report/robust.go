package report

import (
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/words"
)

// OtherFields says how far the order depends on who is in the field. Fields without some
// strategies, and fields whose opponents are resampled from this one, are put together
// from the points of the pairs: nothing of them was played, and what two strategies
// score against each other is taken as independent of the others in the field.
type OtherFields struct {
	Resamples int               `json:"resamples"` // fields, with opponents drawn with replacement
	Level     float64           `json:"level"`     // share of them that the range of places of a player holds
	Players   []OtherFieldsOf   `json:"players"`   // by adjusted points, most first
	Families  [][]string        `json:"families"`  // strategies that play alike, two or more each
	Without   []WithoutStrategy `json:"without"`   // each single strategy, then each family; the first is never left out
}

// OtherFieldsOf is how one player does in other fields, by adjusted points.
type OtherFieldsOf struct {
	Name string `json:"name"`
	robust.Player
}

// WithoutStrategy is a field without some strategies.
type WithoutStrategy struct {
	Out   []string `json:"out"`
	First string   `json:"first"` // who has the most points
	Place int      `json:"place"` // of the first of the run
	Ahead bool     `json:"ahead"` // First is another, and significantly ahead of the first of the run
	Leads bool     `json:"leads"` // First is significantly ahead of all others
}

func (r *Document) otherFields() *OtherFields {
	x, e := r.Robustness, &r.Estimates
	if x == nil {
		return nil
	}
	f := &OtherFields{Resamples: x.Resamples, Level: e.Level, Families: [][]string{}, Without: []WithoutStrategy{}}
	for _, i := range e.Order {
		f.Players = append(f.Players, OtherFieldsOf{e.Players[i].Name, x.Players[i]})
	}
	for _, family := range x.Families {
		f.Families = append(f.Families, e.Names(family))
	}
	for _, w := range x.Without {
		f.Without = append(f.Without, WithoutStrategy{e.Names(w.Out), e.Players[w.First].Name, w.Place, w.Ahead, w.Leads})
	}
	return f
}

// otherFields writes what the order would be in other fields.
func (s *sheet) otherFields(r *Document) {
	x, e := r.Robustness, &r.Estimates
	if x == nil {
		return
	}
	each := func(head string, keep int, cell func(p robust.Player) string) column {
		return r.column(head, keep, func(p *Player) string { return cell(x.Players[p.Field]) })
	}
	s.lines("In other fields:")
	s.table([]column{
		r.rank(), r.strategy(),
		each("first%", 0, func(p robust.Player) string { return words.Plain.Number(100*p.First, 0) }),
		each("places", 0, func(p robust.Player) string { return words.Plain.Places(p.Places) }),
		each("std.error", 1, func(p robust.Player) string { return words.Plain.Number(p.Error, 4) }),
		each("without one", 2, func(p robust.Player) string { return words.Plain.Places(p.WithoutOne) }),
		each("without a family", 3, func(p robust.Player) string { return words.Plain.Places(p.WithoutFamily) }),
	})
	s.lines("")
	s.lines(words.Plain.Robustness(e, x)...)
	s.lines("first%, places, std.error (of adjusted points): with opponents resampled from these; without one, a family: places if one other strategy, "+
		"or the others that play alike, were not there. "+words.AssumedOfFields, "")
}
