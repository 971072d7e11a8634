package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis/population"
)

// WritePopulationTable writes the population for people: what becomes of each
// strategy, those first that are left over, and the payoffs; see [WriteTable].
func WritePopulationTable(w io.Writer, p Population, width int) error {
	var buf bytes.Buffer
	order := p.order()
	buf.WriteString(wrap(fmt.Sprintf("%s of %s as a population, from %s", plural(int64(len(order)), "strategy"),
		plural(int64(len(p.Run.Estimates.Players)), "player"), plural(int64(p.Run.Estimates.Leagues), "league")), width) + "\n\n")
	renderColumns(&buf, p.columns(order), width)
	buf.WriteString("\n" + wrap("Points a match against each (columns in the order of the rows):", width) + "\n\n")
	renderColumns(&buf, p.payoffs(order), width)
	buf.WriteByte('\n')
	for _, line := range p.lines(order) {
		buf.WriteString(wrap(line, width) + "\n")
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write population: %w", err)
	}
	return nil
}

// order has those first that hold most of the last population.
func (p *Population) order() []int {
	list := make([]int, len(p.View.Members))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(i, j int) int {
		a, b := p.View.Members[i], p.View.Members[j]
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Borda, a.Borda))
	})
	return list
}

func (p *Population) columns(order []int) []column {
	each := func(of func(i int, m *population.Member) string) []string {
		var list []string
		for _, i := range order {
			list = append(list, of(i, &p.View.Members[i]))
		}
		return list
	}
	share := func(of func(m *population.Member) float64) []string {
		return each(func(_ int, m *population.Member) string { return plain(100*of(m), 1) })
	}
	list := []column{
		{head: "#", cells: p.places(order)},
		{head: "strategy", left: true, cells: each(func(_ int, m *population.Member) string { return printable(m.Name) })},
		{head: "share%", cells: share(func(m *population.Member) float64 { return m.Share })},
		{head: "alpha-rank%", keep: 5, cells: share(func(m *population.Member) float64 { return m.AlphaRank })},
		{head: "invades", keep: 4, cells: each(func(_ int, m *population.Member) string { return plain(m.Invades, 2) })},
		{head: "against its copy", keep: 6, cells: each(func(_ int, m *population.Member) string { return withInterval(m.Self, 3) })},
		{head: "Borda%", keep: 3, cells: share(func(m *population.Member) float64 { return m.Borda })},
		{head: "worst opponent", left: true, keep: 2, cells: each(func(_ int, m *population.Member) string {
			if m.Worst < 0 {
				return "-"
			}
			return printable(p.View.Members[m.Worst].Name) + " " + withInterval(m.WorstPayoff, 3)
		})},
	}
	if p.Worths != nil {
		list = append(list, column{head: "worth%", keep: 7, cells: each(func(i int, _ *population.Member) string {
			sum := 0.0
			for _, k := range p.View.Game.Copies[i] {
				sum += p.Worths.Worth[k]
			}
			return plain(100*sum, 1)
		})})
	}
	return list
}

func (p *Population) places(order []int) []string {
	var list []string
	for k := range order {
		list = append(list, strconv.Itoa(k+1))
	}
	return list
}

// payoffs has a column for each opponent; where the terminal is narrow, those that
// few play are left out.
func (p *Population) payoffs(order []int) []column {
	names := column{head: "strategy", left: true}
	for _, i := range order {
		names.cells = append(names.cells, printable(p.View.Members[i].Name))
	}
	list := []column{{head: "#", cells: p.places(order)}, names}
	for k, j := range order {
		c := column{head: strconv.Itoa(k + 1), keep: len(order) - k}
		for _, i := range order {
			c.cells = append(c.cells, withInterval(p.View.Game.Payoff(i, j), 3))
		}
		list = append(list, c)
	}
	return list
}

// lines say where the population ends, and what the columns mean.
func (p *Population) lines(order []int) []string {
	var lines []string
	if t := p.View.Trajectory; t != nil {
		lines = append(lines, p.ending(t, order)...)
	} else {
		itself := "itself"
		if len(p.View.Missing) > 1 {
			itself = "themselves"
		}
		lines = append(lines, fmt.Sprintf("What becomes of the population is not known: %s never met a copy of %s. "+
			"Have the field hold copies (NAME*2), or let 'experiment' write its report, for which it plays mirror leagues.",
			printable(strings.Join(p.View.Missing, ", ")), itself))
	}
	lines = append(lines,
		fmt.Sprintf("share: what is left of equal shares under replicator dynamics; alpha-rank: share of time that %d individuals spend with it; "+
			"invades: its chance to take them over, 1 being no better than chance; Borda: share of others that it scores more than.", population.Size),
		fmt.Sprintf("These take the payoffs as exact; ± is for one payoff at %s %%.", strconv.FormatFloat(100*p.Run.Estimates.Level, 'g', 6, 64)))
	if p.Worths != nil {
		lines = append(lines, fmt.Sprintf("worth: chance to come first, by the Plackett-Luce model with ties of the placings in %s; copies are added up.",
			plural(int64(p.WorthLeagues), "league")))
	}
	return append(lines, "No Elo or Bradley-Terry: under a fair draw both players of a match win equally often, so a rating from wins ranks noise.")
}

func (p *Population) ending(t *population.Trajectory, order []int) []string {
	var left []string
	for _, i := range order {
		if m := p.View.Members[i]; m.Share >= 0.01 {
			left = append(left, fmt.Sprintf("%s %.1f %%", printable(m.Name), 100*m.Share))
		}
	}
	last := t.Last()
	lines := []string{fmt.Sprintf("From equal shares the mean payoff rises from %.4f to %.4f points a match. After %s there are left: %s.",
		t.Steps[0].Payoff, last.Payoff, plural(int64(last.Generation), "generation"), strings.Join(left, ", "))}
	if t.Settled {
		return append(lines, "Nobody would gain by being something else: an equilibrium.")
	}
	return append(lines, fmt.Sprintf("It has not settled: the best strategy would still gain %.5f points a match.", t.Gap))
}
