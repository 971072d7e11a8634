package report

import (
	"fmt"
	"io"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/words"
)

// PopulationSchema is the version of the document that [WritePopulationJSON] writes.
const PopulationSchema = "strategylab/population/v2"

// Population is all that a report on strategies as a population is made from.
type Population struct {
	*Document
	View *population.View
}

// WritePopulationJSON writes the population as a document. Strategies are in field order,
// copies being one strategy, and everything by strategy is in this order.
func WritePopulationJSON(w io.Writer, p Population) error {
	e, v := &p.Estimates, p.View
	payoffs := make([][]analysis.Estimate, len(v.Members))
	for i := range payoffs {
		for j := range v.Members {
			payoffs[i] = append(payoffs[i], v.Game.Payoff(i, j))
		}
	}
	return writeDocument(w, "population", struct {
		Schema     string              `json:"schema"`
		Leagues    int                 `json:"leagues"`
		Level      float64             `json:"level"` // of every interval
		Strategies []population.Member `json:"strategies"`
		// Payoffs has the points per match, 1 to 1.5, that the strategy of a row expects
		// against that of a column; null if the two never met.
		Payoffs [][]analysis.Estimate `json:"payoffs"`
		// Trajectory is the path of replicator dynamics from equal shares; null if some
		// strategy, named in Missing, never met a copy of itself.
		Trajectory *population.Trajectory `json:"trajectory"`
		Missing    []string               `json:"missing"`
		Size       int                    `json:"size"`      // individuals, for alpha-rank and invasion
		Intensity  float64                `json:"intensity"` // of selection in alpha-rank, per point per match
	}{PopulationSchema, e.Leagues, e.Level, v.Members, payoffs, v.Trajectory, append([]string{}, v.Missing...), population.Size, population.Intensity})
}

// member is a row.
type member struct {
	population.Member
	Place   int
	Payoffs []analysis.Estimate // in the order of the rows
}

// WritePopulationTable writes the population for people: the final share of each
// strategy, the largest first, and the payoffs, of which a narrow terminal leaves out those
// against the smallest shares; see [WriteTable].
func WritePopulationTable(w io.Writer, p Population, width int) error {
	s := sheet{width: width}
	v, order := p.View, words.BySize(p.View)
	s.lines(fmt.Sprintf("%s of %s as a population, from %s", words.Plain.Plural(int64(len(order)), "strategy"),
		words.Plain.Plural(int64(len(p.Estimates.Players)), "player"), words.Plain.Plural(int64(p.Estimates.Leagues), "league")), "")
	var rows []member
	for k, i := range order {
		row := member{Member: v.Members[i], Place: k + 1}
		for _, j := range order {
			row.Payoffs = append(row.Payoffs, v.Game.Payoff(i, j))
		}
		rows = append(rows, row)
	}
	s.table(columnsOf("members", rows))
	s.lines("", "Points per match against each (columns in the order of the rows):", "")
	s.table(columnsOf("payoffs", rows))
	s.lines("")
	s.lines(words.Plain.Say("notes of a population", struct {
		*population.View
		End   string
		Size  int
		Level float64
	}{v, words.Plain.Population(v, 4, 0), population.Size, p.Estimates.Level})...)
	return s.send(w, "population")
}
