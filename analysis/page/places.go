package page

import (
	"math"
	"strconv"

	"github.com/strategylab/strategylab/analysis/plots"
)

// placesPlot shows how often each strategy had each place in a league.
func (s *source) placesPlot() (*figure, error) {
	n := len(s.e.Players)
	if s.e.Leagues == 0 || n < 3 {
		return nil, nil
	}
	m := plots.Matrix{RowAxis: "strategy", Axis: "place in the league, by points", Scale: "share of leagues", Percent: true, Numbers: n <= 16}
	for k := range n {
		m.Columns = append(m.Columns, strconv.Itoa(k+1))
	}
	for _, i := range s.e.Order {
		m.Rows = append(m.Rows, s.name(i))
		row := make([]float64, n)
		for _, r := range s.e.Players[i].Ranks {
			// Between two places, half of each.
			below, above := math.Floor(r.Rank), math.Ceil(r.Rank)
			row[int(below)-1] += r.Share.Estimate / 2
			row[int(above)-1] += r.Share.Estimate / 2
		}
		for _, v := range row {
			m.High = max(m.High, v)
		}
		m.Cells = append(m.Cells, row)
	}
	return newFigure("places", plots.Heatmap(m), "Heat map of how often each strategy had each place in a league",
		"The stronger the colour, the more often the strategy came in at that place in a single league, by points as the referee gives them. Rows that are "+
			"spread out show how much of one league is luck; a clear diagonal, how much is skill. Those who are level share their places.", false)
}
