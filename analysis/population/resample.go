package population

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
)

// Resamples of a game. The quantiles of a level of 95 % fall on one of them. Many
// strategies get fewer, because each takes time with their third power.
const (
	resamples      = 119
	fewResamples   = 39
	manyStrategies = 40
)

// fates are the numbers of all members that follow from a matrix of chances to differ.
type fates struct {
	trajectory *Trajectory // nil, and the numbers but Borda's NaN, if a cell is NaN
	numbers    [4][]float64
}

// The numbers of a member.
const (
	ofShare = iota
	ofAlphaRank
	ofInvades
	ofBorda
)

// ranges completes the members' numbers with the ranges that hold a share level of the
// resampled ones. A range always holds the estimate.
func (v *View) ranges(f *fates) {
	g := v.Game
	level := cmp.Or(g.level, analysis.DefaultLevel)
	var drawn [4][][]float64 // by number and strategy
	for k := range drawn {
		drawn[k] = make([][]float64, len(g.Names))
	}
	rounds := resamples
	if len(g.Names) > manyStrategies {
		rounds = fewResamples
	}
	source := rand.NewPCG(g.seed, 0x706f70756c617465)
	for round := range rounds {
		r := fatesOf(g.resampled(round, source), resampledGenerations)
		for k, list := range r.numbers {
			for i, x := range list {
				drawn[k][i] = append(drawn[k][i], x)
			}
		}
	}
	tail := max(1, int(math.Round((1-level)/2*float64(rounds+1))))
	for i := range v.Members {
		for k, number := range []*analysis.Estimate{&v.Members[i].Share, &v.Members[i].AlphaRank, &v.Members[i].Invades, &v.Members[i].Borda} {
			x, list := f.numbers[k][i], drawn[k][i]
			*number = analysis.Estimate{Estimate: x, Low: x, High: x, Level: level, Method: analysis.ByDrawing}
			if math.IsNaN(x) {
				continue
			}
			slices.Sort(list)
			number.Low, number.High = min(x, list[tail-1]), max(x, list[len(list)-tail])
		}
	}
}

// resampled moves each chance to differ by a number of standard errors, the longer side of
// a lopsided interval being longer, cut off to 0 and 1. The numbers are those of a
// resample of the leagues, so that chances vary together as they did there. Where leagues
// say nothing of that, they are normal and independent.
func (g *Game) resampled(round int, source *rand.PCG) [][]float64 {
	m := g.differ()
	for i := range m {
		for j := i; j < len(m); j++ {
			u := (float64(source.Uint64()>>11) + 0.5) / (1 << 53)
			c := g.Differ[i][j]
			z := distuv.UnitNormal.Quantile(u)
			if leagues := g.sample(i, j); leagues != nil {
				z = leagues[round]
			}
			z /= distuv.UnitNormal.Quantile(0.5 + cmp.Or(c.Level, analysis.DefaultLevel)/2)
			side := c.High - c.Estimate
			if z < 0 {
				side = c.Estimate - c.Low
			}
			x := c.Estimate + float64(z*side)
			if c.Defined() {
				x = min(max(x, 0), 1)
			}
			m[i][j], m[j][i] = x, x
		}
	}
	return m
}

// sample has the standardized resamples of a cell; nil if leagues say nothing of it.
func (g *Game) sample(i, j int) []float64 {
	if g.together == nil {
		return nil
	}
	return g.together[i][j]
}
