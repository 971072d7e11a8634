package report

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

// Confirms says how the first of another run does in one with a fresh seed.
type Confirms struct {
	Seed   uint64 `json:"seed"`            // of the other run
	First  string `json:"first,omitempty"` // in the other run; absent if nothing was ranked
	Place  int    `json:"place,omitempty"` // of that player here
	Places [2]int `json:"places"`          // that the evidence allows; zeros without First
}

func (r *Document) confirms() *Confirms {
	c := r.Run.Plan.Confirms
	if c == nil {
		return nil
	}
	d := &Confirms{Seed: c.Seed, First: c.First}
	if i := r.confirmed(); i >= 0 {
		d.Place, d.Places = r.Estimates.Place(i), r.Estimates.Ranking.Places[i]
	}
	return d
}

// confirmed is the field index of the first of the other run, or -1.
func (r *Document) confirmed() int {
	c, e := r.Run.Plan.Confirms, &r.Estimates
	if c == nil || e.Leagues < 2 {
		return -1
	}
	return slices.IndexFunc(e.Players, func(p analysis.Player) bool { return p.Name == c.First })
}

// ConfirmationLines say how the first of another run does here; nothing for a run that
// confirms none.
func (r *Document) ConfirmationLines() []string {
	if r.Run.Plan.Confirms == nil {
		return nil
	}
	line := fmt.Sprintf("Confirmation of the run with seed %d by a fresh seed", r.Run.Plan.Confirms.Seed)
	if i := r.confirmed(); i >= 0 {
		line += ": " + words.Plain.Confirmed(&r.Estimates, i)
	}
	return []string{line + "."}
}
