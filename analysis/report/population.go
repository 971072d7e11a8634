package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

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

// WritePopulationTable writes the population for people: the final share of each
// strategy, the largest first, and the payoffs; see [WriteTable].
func WritePopulationTable(w io.Writer, p Population, width int) error {
	s := sheet{width: width}
	order := words.BySize(p.View)
	s.lines(fmt.Sprintf("%s of %s as a population, from %s", words.Plain.Plural(int64(len(order)), "strategy"),
		words.Plain.Plural(int64(len(p.Estimates.Players)), "player"), words.Plain.Plural(int64(p.Estimates.Leagues), "league")), "")
	s.table(p.columns(order))
	s.lines("", "Points per match against each (columns in the order of the rows):", "")
	s.table(p.payoffs(order))
	s.lines("")
	s.lines(p.notes()...)
	return s.send(w, "population")
}

func (p *Population) columns(order []int) []column {
	withRange := func(e analysis.Estimate, scale float64, decimals int) string {
		if !e.Defined() {
			return "-"
		}
		return fmt.Sprintf("%s (%s)", words.Plain.Number(scale*e.Estimate, decimals), words.Plain.Range(e, scale, decimals))
	}
	col := func(head string, keep int, cell func(m *population.Member) string) column {
		return columnOf(head, keep, order, func(i *int) string { return cell(&p.View.Members[*i]) })
	}
	share := func(head string, keep int, of func(m *population.Member) analysis.Estimate) column {
		return col(head, keep, func(m *population.Member) string { return withRange(of(m), 100, 1) })
	}
	return append(p.names(order),
		share("share%", 0, func(m *population.Member) analysis.Estimate { return m.Share }),
		share("alpha-rank%", 5, func(m *population.Member) analysis.Estimate { return m.AlphaRank }),
		col("invades", 4, func(m *population.Member) string { return withRange(m.Invades, 1, 2) }),
		col("against its copy", 6, func(m *population.Member) string { return words.PlusMinus(m.Self, 1, 3) }),
		share("Borda%", 3, func(m *population.Member) analysis.Estimate { return m.Borda }),
		col("<worst opponent", 2, func(m *population.Member) string {
			if m.Worst == "" {
				return "-"
			}
			return words.Printable(m.Worst) + " " + words.PlusMinus(m.WorstPayoff, 1, 3)
		}))
}

// names has the places and names of strategies in an order.
func (p *Population) names(order []int) []column {
	return []column{
		columnOf("#", 0, order, func(i *int) string { return strconv.Itoa(slices.Index(order, *i) + 1) }),
		columnOf("<strategy", 0, order, func(i *int) string { return words.Printable(p.View.Members[*i].Name) }),
	}
}

// payoffs has a column for each opponent; on a narrow terminal the opponents with the
// smallest shares are left out.
func (p *Population) payoffs(order []int) []column {
	list := p.names(order)
	for k, j := range order {
		list = append(list, columnOf(strconv.Itoa(k+1), len(order)-k, order, func(i *int) string { return words.PlusMinus(p.View.Game.Payoff(*i, j), 1, 3) }))
	}
	return list
}

// notes say where the population ends, and what the columns mean.
func (p *Population) notes() []string {
	end := words.Printable(words.Plain.Population(p.View, 4, 0))
	if p.View.Trajectory == nil {
		end += " Add copies to the field (NAME*2), or let 'experiment' write its report, for which it plays mirror leagues."
	}
	return append([]string{end}, words.Plain.Say("columns of a population", struct {
		Size  int
		Level float64
	}{population.Size, p.Estimates.Level})...)
}
