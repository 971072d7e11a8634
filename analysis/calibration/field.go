package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Player is a player with known statistics.
type Player struct {
	// Even is its chance of saying even. In each league it is Even-Mood or Even+Mood
	// instead, with equal chance: so the matches of a league are dependent, as with
	// players that learn.
	Even, Mood float64
	// Rarely is the chance that it says even throughout a league; the others make up for
	// it, so that Even stays its chance. It excludes Mood.
	Rarely float64
	// Fault is its chance of a technical loss in a match, and Down that of losing all
	// matches of a league so.
	Fault, Down float64
}

// fails is its chance of a technical loss in any match.
func (p Player) fails() float64 { return 1 - (1-p.Fault)*(1-p.Down) }

// Field is a league of players and the length of an experiment with it.
type Field struct {
	Name    string
	Players []Player
	Legs    int
	Leagues int    // of one experiment
	Draw    string // see game.ParseDraw; empty is the fair draw
	// Found is the promised chance that the best player is alone in tier 1; 0 promises
	// nothing.
	Found float64
	Rare  bool // has rare events, so intervals may be cautious
}

// Plan returns the plan of one experiment with the field.
func (f Field) Plan(seed uint64) results.Plan {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: f.Leagues, Legs: f.Legs, Seed: seed, Draw: cmp.Or(f.Draw, game.FairDraw().String()), Transport: "direct",
	}
	for i, player := range f.Players {
		name, kind := fmt.Sprintf("player-%d", i+1), "builtin"
		if player.fails() > 0 || player.Rarely > 0 {
			kind = "lua" // of which runs say what they are too short to show
		}
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: kind, Ref: name})
	}
	return plan
}

// Equal returns a field of n players that all toss fair coins: every difference found
// in it is wrong.
func Equal(n, legs, leagues int) Field {
	f := Field{Name: fmt.Sprintf("%d equal players", n), Legs: legs, Leagues: leagues}
	for range n {
		f.Players = append(f.Players, Player{Even: 0.5})
	}
	return f
}

// Edge returns a field of n players of whom the first has an edge: its chance to differ
// from any other exceeds the chance among the others by edge. The edge is at most 1,
// because the first always says odd and the others even.
func Edge(n, legs, leagues int, edge float64) Field {
	// Players that say even with chance h differ from each other with chance 2h(1-h),
	// and from one that always says odd with chance h; so 2h^2-h = edge.
	h := (1 + math.Sqrt(1+8*edge)) / 4
	f := Field{Name: fmt.Sprintf("edge %.2f, %d players", edge, n), Legs: legs, Leagues: leagues, Players: []Player{{Even: 0}}}
	for range n - 1 {
		f.Players = append(f.Players, Player{Even: h})
	}
	return f
}

// Mixed returns a field of n players from one that hardly ever says even to one that
// nearly always does, so that their chances of differing spread from 0.1 to 0.9; every
// third has moods.
func Mixed(n, legs, leagues int) Field {
	f := Field{Name: fmt.Sprintf("%d unlike players", n), Legs: legs, Leagues: leagues}
	for i := range n {
		b := Player{Even: 0.055 + 0.89*float64(i)/float64(max(1, n-1))}
		if i%3 == 1 {
			b.Mood = min(0.2, b.Even, 1-b.Even)
		}
		f.Players = append(f.Players, b)
	}
	return f
}

// Pair returns a field of two that differ with chance p; with moods, in some leagues
// more often and in some less.
func Pair(p, mood float64, legs, leagues int) Field {
	f := Field{Name: fmt.Sprintf("2 players, P(differ) %.1f", p), Legs: legs, Leagues: leagues,
		Players: []Player{{Even: 0}, {Even: p, Mood: mood}}}
	if mood > 0 {
		f.Name += ", moods"
	}
	return f
}

// Rare returns a field with rare events: a difference between the first two, titles of
// those who say the less likely parity, and technical losses.
func Rare(legs, leagues int) Field {
	return Field{
		Name: "rare events, biased draw", Legs: legs, Leagues: leagues, Draw: "weights:1=1,2=3", Rare: true,
		Players: []Player{{Even: 0.99}, {Even: 0.98, Fault: 0.0005}, {Even: 0.7, Fault: 0.01}, {Even: 0.5, Fault: 0.0001}, {Even: 0.3}},
	}
}

// Truth is what is expected of the players of a field, per match, by field index.
type Truth struct {
	Points, Wins, Draws, Technical []float64
	Differ                         []float64   // of matches decided by choices
	PairDiffer                     [][]float64 // the same against one opponent
}

// Truth computes the true values. The choices of different players are independent in each
// league, so moods do not matter. It panics if the field's draw is invalid.
func (f Field) Truth() Truth {
	draw, err := game.ParseDraw(cmp.Or(f.Draw, game.FairDraw().String()))
	if err != nil {
		panic("calibration: " + err.Error())
	}
	weight, total := draw.EvenWeight()
	even := float64(weight) / float64(total)
	n := len(f.Players)
	t := Truth{
		Points: make([]float64, n), Wins: make([]float64, n), Draws: make([]float64, n), Technical: make([]float64, n),
		Differ: make([]float64, n), PairDiffer: make([][]float64, n),
	}
	for i, a := range f.Players {
		t.PairDiffer[i] = make([]float64, n)
		cleanAll := 0.0
		for j, b := range f.Players {
			if i == j {
				continue
			}
			saidEven, saidOdd := a.Even*(1-b.Even), (1-a.Even)*b.Even
			failA, failB := a.fails(), b.fails()
			clean := (1 - failA) * (1 - failB)
			t.PairDiffer[i][j] = saidEven + saidOdd
			t.Differ[i] += clean * (saidEven + saidOdd)
			cleanAll += clean
			share := 1 / float64(n-1)
			t.Wins[i] += share * (clean*(even*saidEven+(1-even)*saidOdd) + (1-failA)*failB)
			t.Draws[i] += share * clean * (1 - saidEven - saidOdd)
		}
		t.Differ[i] /= cleanAll
		t.Technical[i] = a.fails()
		t.Points[i] = game.WinPoints*t.Wins[i] + game.TiePoints*t.Draws[i]
	}
	return t
}

// level is the difference up to which true values count as equal.
const level = 1e-9

// places returns the place range of each player by its true points.
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

// best returns the players with the most true points.
func (t Truth) best() map[int]bool {
	most := slices.Max(t.Points)
	list := map[int]bool{}
	for i, p := range t.Points {
		if p >= most-level {
			list[i] = true
		}
	}
	return list
}
