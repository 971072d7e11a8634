package report

import (
	"io"

	"github.com/strategylab/strategylab/analysis/population"
)

// PopulationSchema is the version of the document that [WritePopulationJSON] writes.
const PopulationSchema = "strategylab/population/v1"

// Population is all that a report on strategies as a population is made from.
type Population struct {
	Run  Run
	View *population.View
	// Worths is the Plackett-Luce model of the placings in WorthLeagues leagues, by
	// field index; nil if none was asked for.
	Worths       *population.Worths
	WorthLeagues int
}

// PopulationDocument is a population for other programs. Everything that is by
// strategy has the order of Strategies, which is that of the field, copies being
// one strategy.
type PopulationDocument struct {
	Schema     string               `json:"schema"`
	Leagues    int                  `json:"leagues"`
	Level      float64              `json:"level"` // of every interval
	Strategies []PopulationStrategy `json:"strategies"`
	// Payoffs has the points a match, 1 to 1.5, that the strategy of a row expects
	// against that of a column; null if the two never met.
	Payoffs [][]*Estimate `json:"payoffs"`
	// Trajectory is where replicator dynamics lead from equal shares; null if some
	// strategy, named in Missing, never met a copy of itself.
	Trajectory *PopulationTrajectory `json:"trajectory"`
	Missing    []string              `json:"missing"`

	Size      int              `json:"size"`      // individuals, for alpha-rank and invasion
	Intensity float64          `json:"intensity"` // of selection in alpha-rank, per point a match
	Placings  *PopulationModel `json:"plackett_luce,omitempty"`
}

// PopulationStrategy is what becomes of one strategy; see [population.Member].
type PopulationStrategy struct {
	Name        string    `json:"name"`
	Copies      []string  `json:"copies"` // players that are this strategy
	Self        *Estimate `json:"self"`
	Share       *float64  `json:"share"`
	AlphaRank   *float64  `json:"alpha_rank"`
	Invades     *float64  `json:"invades"`
	Worst       string    `json:"worst_opponent"` // "" if it met nobody
	WorstPayoff *Estimate `json:"worst_payoff"`
	Borda       *float64  `json:"borda"`
}

// PopulationTrajectory is a population under replicator dynamics.
type PopulationTrajectory struct {
	Settled bool              `json:"settled"` // at an equilibrium
	Gap     float64           `json:"gap"`     // points a match that the best strategy would still gain
	Steps   []PopulationShare `json:"steps"`
}

// PopulationShare is a population at one time.
type PopulationShare struct {
	Generation int       `json:"generation"`
	Payoff     float64   `json:"payoff"` // mean points a match
	Shares     []float64 `json:"shares"` // by strategy
}

// PopulationModel is a fitted Plackett-Luce model of placings.
type PopulationModel struct {
	Leagues int                `json:"leagues"`
	Worths  map[string]float64 `json:"worths"` // by player; they add up to 1
	Ties    []float64          `json:"ties"`   // by how many are level, from 2
}

// WritePopulationJSON writes the population as a document.
func WritePopulationJSON(w io.Writer, p Population) error {
	e, v := &p.Run.Estimates, p.View
	d := PopulationDocument{
		Schema: PopulationSchema, Leagues: e.Leagues, Level: e.Level, Missing: append([]string{}, v.Missing...),
		Size: population.Size, Intensity: population.Intensity,
	}
	for i, m := range v.Members {
		s := PopulationStrategy{
			Name: m.Name, Self: estimate(m.Self), Share: number(m.Share), AlphaRank: number(m.AlphaRank), Invades: number(m.Invades), Borda: number(m.Borda),
		}
		for _, k := range v.Game.Copies[i] {
			s.Copies = append(s.Copies, e.Players[k].Name)
		}
		if m.Worst >= 0 {
			s.Worst, s.WorstPayoff = v.Members[m.Worst].Name, estimate(m.WorstPayoff)
		}
		d.Strategies = append(d.Strategies, s)
		row := make([]*Estimate, len(v.Members))
		for j := range row {
			row[j] = estimate(v.Game.Payoff(i, j))
		}
		d.Payoffs = append(d.Payoffs, row)
	}
	if t := v.Trajectory; t != nil {
		d.Trajectory = &PopulationTrajectory{Settled: t.Settled, Gap: t.Gap}
		for _, s := range t.Steps {
			d.Trajectory.Steps = append(d.Trajectory.Steps, PopulationShare{Generation: s.Generation, Payoff: s.Payoff, Shares: s.Share})
		}
	}
	if p.Worths != nil {
		d.Placings = &PopulationModel{Leagues: p.WorthLeagues, Worths: map[string]float64{}, Ties: append([]float64{}, p.Worths.Ties...)}
		for i, x := range p.Worths.Worth {
			d.Placings.Worths[e.Players[i].Name] = x
		}
	}
	return writeDocument(w, "population", d)
}
