package game_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

// played is one match of a table under test.
type played struct {
	a, b int
	v    game.Verdict
}

var (
	aWins  = game.Verdict{ResultA: game.Win, ResultB: game.Loss, PointsA: game.WinPoints}
	aDraws = game.Verdict{ResultA: game.Tie, ResultB: game.Tie, PointsA: game.TiePoints, PointsB: game.TiePoints}

	bothFail = game.Verdict{ResultA: game.TechnicalLoss, ResultB: game.TechnicalLoss}
)

func table(players int, matches []played) *game.Table {
	t := game.NewTable(players)
	for _, m := range matches {
		t.Add(m.a, m.b, m.v)
	}
	return t
}

// One case for each rule, in which the rule before it does not tell and the
// rules after it would say otherwise.
func TestTieBreaks(t *testing.T) {
	for name, c := range map[string]struct {
		players int
		matches []played
		want    []int // seats from first to last
	}{
		"points before wins": {3, []played{{0, 2, aWins}, {1, 2, aDraws}, {1, 2, aDraws}, {1, 2, aDraws}, {1, 2, aDraws}}, []int{1, 2, 0}},
		"then wins":          {4, []played{{2, 3, aWins}, {0, 1, aDraws}, {0, 1, aDraws}, {0, 1, aDraws}}, []int{2, 0, 1, 3}},
		"then points among the tied, before technical losses": {
			4, []played{{1, 0, aWins}, {0, 2, aWins}, {1, 3, bothFail}}, []int{1, 0, 2, 3},
		},
		"then fewer technical losses": {4, []played{{0, 2, aWins}, {1, 2, aWins}, {0, 3, bothFail}}, []int{1, 0, 2, 3}},
		"then the player's number":    {4, []played{{3, 2, aDraws}, {1, 0, aDraws}}, []int{0, 1, 2, 3}},
		// Seats 0, 1 and 2 have a win each. Among the three, 0 and 1 have scored 3 and seat 2
		// nothing. That 1 has beaten 0 would tell them apart if their matches were looked at
		// again on their own, and is not to.
		"points among the tied are computed once": {4, []played{{1, 0, aWins}, {0, 2, aWins}, {2, 3, aWins}}, []int{0, 1, 2, 3}},
		"nothing played": {12, nil, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
	} {
		var got []int
		for _, row := range table(c.players, c.matches).Ranking() {
			got = append(got, row.Seat)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Whatever happens in a league, the rows add up to what was handed out.
func TestPointsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		players, legs := rapid.IntRange(2, 64).Draw(t, "players"), rapid.IntRange(1, 2).Draw(t, "legs")
		s := schedule(t, players, legs)
		outcomes := rapid.SliceOfN(sides(), 2, 40).Draw(t, "sides") // repeated, for a match has too many bits
		tab := game.NewTable(players)
		points, wins, draws, faults := 0, 0, 0, 0
		for i, m := range s.Matches() {
			a, b := outcomes[2*i%len(outcomes)], outcomes[(2*i+1+i/len(outcomes))%len(outcomes)]
			switch {
			case a.Fault != 0 && b.Fault != 0:
				faults += 2
			case a.Fault != 0 || b.Fault != 0:
				points, wins, faults = points+3, wins+1, faults+1
			case a.Choice == b.Choice:
				points, draws = points+2, draws+2
			default:
				points, wins = points+3, wins+1
			}
			tab.Add(m.A, m.B, game.Judge(a, b, i))
		}
		var sum game.Row
		for seat := range players {
			r := tab.Row(seat)
			if r.Played != legs*(players-1) || r.Wins+r.Ties+r.Losses != r.Played || r.Points != 3*r.Wins+r.Ties {
				t.Fatalf("seat %d: %+v", seat, r)
			}
			sum.Points += r.Points
			sum.Wins += r.Wins
			sum.Ties += r.Ties
			sum.TechnicalLosses += r.TechnicalLosses
		}
		if want := (game.Row{Points: points, Wins: wins, Ties: draws, TechnicalLosses: faults}); sum != want {
			t.Fatalf("rows add up to %+v, want %+v", sum, want)
		}
		checkRanking(t, tab, players, s, outcomes)
	})
}

// checkRanking compares the ranking with the rule applied word by word to the list of matches.
func checkRanking(t rapid.TB, tab *game.Table, players int, s *game.Schedule, outcomes []game.Side) {
	t.Helper()
	among := make([]int, players) // points against those level on points and wins
	for i, m := range s.Matches() {
		a, b := tab.Row(m.A), tab.Row(m.B)
		if a.Points == b.Points && a.Wins == b.Wins {
			v := game.Judge(outcomes[2*i%len(outcomes)], outcomes[(2*i+1+i/len(outcomes))%len(outcomes)], i)
			among[m.A] += v.PointsA
			among[m.B] += v.PointsB
		}
	}
	want := make([]game.Row, players)
	for seat := range want {
		want[seat] = tab.Row(seat)
	}
	slices.SortStableFunc(want, func(a, b game.Row) int {
		return cmp.Or(-cmp.Compare(a.Points, b.Points), -cmp.Compare(a.Wins, b.Wins),
			-cmp.Compare(among[a.Seat], among[b.Seat]), cmp.Compare(a.TechnicalLosses, b.TechnicalLosses))
	})
	if got := tab.Ranking(); !slices.Equal(got, want) {
		t.Fatalf("ranking\n%+v\nwant\n%+v", got, want)
	}
	if again := tab.Ranking(); !slices.Equal(again, want) {
		t.Fatal("ranking twice gives two rankings")
	}
}
