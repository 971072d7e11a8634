package calibration

import (
	"math"

	"github.com/strategylab/strategylab/host/game"
)

// Truth is what is expected of the bots of a field, per match, by field index.
type Truth struct {
	Points, Wins, Draws, Technical []float64
	Differ                         []float64   // of matches that both made a choice in
	PairDiffer                     [][]float64 // the same against one opponent
}

// Truth computes the true values. What a bot says in one league is independent of
// what another says, so moods do not enter. It panics if the field's draw is none.
func (f Field) Truth() Truth {
	draw := game.FairDraw()
	if f.Draw != "" {
		var err error
		if draw, err = game.ParseDraw(f.Draw); err != nil {
			panic("calibration: " + err.Error())
		}
	}
	weight, total := draw.EvenWeight()
	even := float64(weight) / float64(total)
	n := len(f.Bots)
	t := Truth{
		Points: make([]float64, n), Wins: make([]float64, n), Draws: make([]float64, n), Technical: make([]float64, n),
		Differ: make([]float64, n), PairDiffer: make([][]float64, n),
	}
	for i, a := range f.Bots {
		t.PairDiffer[i] = make([]float64, n)
		cleanAll := 0.0
		for j, b := range f.Bots {
			if i == j {
				continue
			}
			saidEven, saidOdd := a.Even*(1-b.Even), (1-a.Even)*b.Even
			clean := (1 - a.Fault) * (1 - b.Fault)
			t.PairDiffer[i][j] = saidEven + saidOdd
			t.Differ[i] += clean * (saidEven + saidOdd)
			cleanAll += clean
			share := 1 / float64(n-1)
			t.Wins[i] += share * (clean*(even*saidEven+(1-even)*saidOdd) + (1-a.Fault)*b.Fault)
			t.Draws[i] += share * clean * (1 - saidEven - saidOdd)
		}
		t.Differ[i] /= cleanAll
		t.Technical[i] = a.Fault
		t.Points[i] = game.WinPoints*t.Wins[i] + game.DrawPoints*t.Draws[i]
	}
	return t
}

// level is within what players are truly level.
const level = 1e-9

// places returns the best and the worst place that each player can be given by
// its true points; those who are level share theirs.
func (t Truth) places() [][2]int {
	list := make([][2]int, len(t.Points))
	for i := range list {
		list[i] = [2]int{1, len(list)}
		for j := range list {
			switch d := t.Points[i] - t.Points[j]; {
			case d > level:
				list[i][1]--
			case d < -level:
				list[i][0]++
			}
		}
	}
	return list
}

// best returns those who truly have the most points.
func (t Truth) best() map[int]bool {
	most := math.Inf(-1)
	for _, p := range t.Points {
		most = max(most, p)
	}
	list := map[int]bool{}
	for i, p := range t.Points {
		if p >= most-level {
			list[i] = true
		}
	}
	return list
}
