package calibration

import (
	"math"

	"github.com/strategylab/strategylab/analysis"
)

// quantity is a number with one interval or several in an experiment.
type quantity struct {
	name string
	mean bool // judged by Student's t on league values; others may be cautious
	of   func(e *analysis.Estimates) []analysis.Estimate
	// truth has the true values; nil takes the mean over all repetitions.
	truth func(t *Truth) []float64
}

func players(of func(*analysis.Player) analysis.Estimate) func(*analysis.Estimates) []analysis.Estimate {
	return func(e *analysis.Estimates) []analysis.Estimate {
		list := make([]analysis.Estimate, len(e.Players))
		for i := range e.Players {
			list[i] = of(&e.Players[i])
		}
		return list
	}
}

// ranked are the quantities of a field with a ranking.
func ranked() []quantity {
	points := func(t *Truth) []float64 { return t.Points }
	wins := func(t *Truth) []float64 { return t.Wins }
	return append(differing(),
		quantity{"adjusted points", true, players(func(p *analysis.Player) analysis.Estimate { return p.Adjusted }), points},
		quantity{"points", true, players(func(p *analysis.Player) analysis.Estimate { return p.Points }), points},
		quantity{"difference of two, adjusted", true, differences, trueDifferences},
		quantity{"win rate", true, players(func(p *analysis.Player) analysis.Estimate { return p.WinRate }), wins},
		quantity{"adjusted win rate", true, players(func(p *analysis.Player) analysis.Estimate { return p.AdjustedWinRate }), wins},
		quantity{"tie rate", true, players(func(p *analysis.Player) analysis.Estimate { return p.DrawRate }),
			func(t *Truth) []float64 { return t.Draws }},
		quantity{"technical-loss rate", false, players(func(p *analysis.Player) analysis.Estimate { return p.TechnicalRate }),
			func(t *Truth) []float64 { return t.Technical }},
		quantity{"title share", false, players(func(p *analysis.Player) analysis.Estimate { return p.ChampionShare }), nil},
		quantity{"P(first alone)", false, players(func(p *analysis.Player) analysis.Estimate { return p.First }), nil},
		quantity{"mean rank", false, players(func(p *analysis.Player) analysis.Estimate { return p.Rank }), nil},
	)
}

// differing are the quantities of every field.
func differing() []quantity {
	return []quantity{
		{"P(differ) of a pair", true, func(e *analysis.Estimates) []analysis.Estimate {
			list := make([]analysis.Estimate, len(e.Pairs))
			for k := range e.Pairs {
				list[k] = e.Pairs[k].Differ
			}
			return list
		}, func(t *Truth) []float64 {
			var list []float64
			for i, row := range t.PairDiffer {
				list = append(list, row[i+1:]...)
			}
			return list
		}},
		{"P(differ) of a player", true, players(func(p *analysis.Player) analysis.Estimate { return p.Differ }),
			func(t *Truth) []float64 { return t.Differ }},
	}
}

// differences lists the paired differences by players, first minus second.
func differences(e *analysis.Estimates) []analysis.Estimate {
	n := len(e.Players)
	list := make([]analysis.Estimate, n*n)
	for _, c := range e.Ranking.Comparisons {
		list[c.A*n+c.B], list[c.B*n+c.A] = c.Difference, c.Reversed().Difference
	}
	return upper(list, n)
}

func trueDifferences(t *Truth) []float64 {
	n := len(t.Points)
	list := make([]float64, n*n)
	for i, p := range t.Points {
		for j, q := range t.Points {
			list[i*n+j] = p - q
		}
	}
	return upper(list, n)
}

// upper returns the part of a square above the diagonal.
func upper[T any](square []T, n int) []T {
	var list []T
	for i := range n {
		list = append(list, square[i*n+i+1:(i+1)*n]...)
	}
	return list
}

// fixed counts in units of 1e-12, so that sums do not depend on their order.
func fixed(x float64) int64 { return int64(math.Round(x * 1e12)) }

func float(sum int64, n int) float64 { return float64(sum) / 1e12 / float64(n) }

// coverage counts how often the intervals of one quantity cover the truth.
type coverage struct {
	quantity
	truth  []float64 // nil until all repetitions are done
	caught []int
	sums   []int64 // of estimates
	widths []int64
	ends   [][]float64 // low and high of each, by repetition, while the truth is unknown
}

func newCoverage(q quantity, t *Truth, repetitions int) *coverage {
	c := &coverage{quantity: q}
	if q.truth != nil {
		c.truth = q.truth(t)
	} else {
		c.ends = make([][]float64, repetitions)
	}
	return c
}

func (c *coverage) add(rep int, e *analysis.Estimates) {
	list := c.of(e)
	if c.caught == nil {
		c.caught, c.sums, c.widths = make([]int, len(list)), make([]int64, len(list)), make([]int64, len(list))
	}
	for k, x := range list {
		c.widths[k] += fixed(x.Width())
		c.sums[k] += fixed(x.Estimate)
		if c.truth == nil {
			c.ends[rep] = append(c.ends[rep], x.Low, x.High)
		} else if x.Low-level <= c.truth[k] && c.truth[k] <= x.High+level {
			c.caught[k]++
		}
	}
}

// row completes the count.
func (c *coverage) row(f Field, opts Options) Row {
	if c.truth == nil {
		for k := range c.caught {
			truth := float(c.sums[k], opts.Repetitions)
			for _, ends := range c.ends {
				if ends[2*k] <= truth && truth <= ends[2*k+1] {
					c.caught[k]++
				}
			}
		}
	}
	r := newRow(f, "coverage: "+c.name, opts)
	promised := analysis.Number(opts.Level)
	r.Nominal, r.AtLeast, r.AtMost = promised, promised-0.01, 1
	if c.mean && !f.Rare {
		r.AtMost = promised + 0.01
	}
	total, width := 0, int64(0)
	r.Lowest, r.Highest = 1, 0
	for k, n := range c.caught {
		share := float64(n) / float64(opts.Repetitions)
		r.Lowest, r.Highest = min(r.Lowest, share), max(r.Highest, share)
		total += n
		width += c.widths[k] / int64(len(c.caught))
	}
	r.Measured = analysis.Number(float64(total) / float64(len(c.caught)*opts.Repetitions))
	r.Width = analysis.Number(float(width, opts.Repetitions))
	r.Intervals = len(c.caught)
	return r
}
