package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// synthetic accumulates made-up league values, in points per match.
func synthetic(players, leagues int, league func(points []float64)) *Accumulator {
	const scale = 1 << 20
	a := &Accumulator{layout: &layout{games: 1, unit: scale}, players: make([]playerSums, players), adj: newProducts(players)}
	points, units := make([]float64, players), make([]int64, players)
	for range leagues {
		league(points)
		for i, x := range points {
			units[i] = int64(math.Round(x * scale))
			a.players[i].adj += units[i]
			a.players[i].adjCubes.addCube(units[i])
		}
		a.adj.addOuter(units)
		a.leagues++
	}
	return a
}

// TestRareBehaviourIsSeen: what happens in a few leagues and decides the points is
// noticed as soon as it has happened, and coins never are.
func TestRareBehaviourIsSeen(t *testing.T) {
	const players, repetitions = 8, 100
	for _, tt := range []struct {
		name    string
		rate    float64 // of the rare leagues
		change  float64 // of the first player's points in them
		leagues int
		noticed bool
	}{
		{"coins", 0, 0, 30, false},
		{"coins", 0, 0, 50, false},
		{"coins", 0, 0, 200, false},
		{"fails in 1 % of leagues", 0.01, -1, 100, true},
		{"fails in 3 % of leagues", 0.03, -1, 50, true},
		{"fails in 3 % of leagues", 0.03, -1, 300, true},
		{"mood in 5 % of leagues", 0.05, 0.25, 100, true},
		{"fails in half of the leagues", 0.5, -1, 100, false},
	} {
		r := rand.New(rand.NewPCG(4, 5))
		happened, warned := 0, 0
		for range repetitions {
			rare := false
			a := synthetic(players, tt.leagues, func(points []float64) {
				for i := range points {
					points[i] = 1.25 + 0.02*r.NormFloat64()
				}
				if r.Float64() < tt.rate {
					points[0] += tt.change
					rare = true
				}
			})
			if rare || !tt.noticed {
				happened++
				warned += attest.One(len(a.skewed()) > 0)
			}
		}
		t.Logf("%s, %d leagues: noticed in %d of %d", tt.name, tt.leagues, warned, happened)
		if tt.noticed && warned < happened*95/100 || !tt.noticed && warned > 0 {
			t.Errorf("%s, %d leagues: noticed in %d of %d experiments", tt.name, tt.leagues, warned, happened)
		}
	}
}

// TestEnoughLeagues: the number of leagues that is said to be enough is, about.
func TestEnoughLeagues(t *testing.T) {
	play := func(leagues int) []Skewed {
		l := 0
		return synthetic(3, leagues, func(points []float64) {
			points[0], points[1], points[2] = 1.25, 1.25+0.01*float64(l%2), 1.25
			if l++; l%50 == 0 {
				points[0] = 0
			}
		}).skewed()
	}
	list := play(100)
	if len(list) != 1 || list[0].Field != 0 || list[0].Enough < 1000 || list[0].Enough > 2000 {
		t.Fatalf("%+v", list)
	}
	if more := play(list[0].Enough + 50); more != nil {
		t.Errorf("still too few after %d leagues: %+v", list[0].Enough+50, more)
	}
}
