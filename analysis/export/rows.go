package export

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// LeagueRow is one player in one league. Points are sums over its matches.
type LeagueRow struct {
	League          int32   `json:"league"` // from 0
	Player          string  `json:"player" parquet:"dict"`
	PlayerID        string  `json:"player_id" parquet:"dict"` // the seat: "P01"
	Matches         int32   `json:"matches"`
	Wins            int32   `json:"wins"`
	Draws           int32   `json:"draws"`
	Losses          int32   `json:"losses"` // technical ones among them
	TechnicalLosses int32   `json:"technical_losses"`
	Points          int32   `json:"points"`
	Adjusted        float64 `json:"adjusted"` // expected points given both choices
	Clean           int32   `json:"clean"`    // matches decided by choices
	Differ          int32   `json:"differ"`   // of these, with differing choices
	Rank            float64 `json:"rank"`     // by points, equal points sharing their places
	ChampionShare   float64 `json:"champion_share"`
}

// MatchRow is one match. Choices and faults are empty if there was none.
type MatchRow struct {
	League    int32   `json:"league"`                // from 0
	Match     string  `json:"match" parquet:"dict"`  // "R3M1"
	Round     int32   `json:"round" parquet:"delta"` // from 1
	PlayerA   string  `json:"player_a" parquet:"dict"`
	PlayerB   string  `json:"player_b" parquet:"dict"`
	ChoiceA   string  `json:"choice_a" parquet:"dict"` // "even" or "odd"
	ChoiceB   string  `json:"choice_b" parquet:"dict"`
	FaultA    string  `json:"fault_a" parquet:"dict"` // the fault of a technical loss
	FaultB    string  `json:"fault_b" parquet:"dict"`
	Number    *int32  `json:"number" parquet:"optional"` // null if none was drawn
	PointsA   int32   `json:"points_a"`
	PointsB   int32   `json:"points_b"`
	AdjustedA float64 `json:"adjusted_a" parquet:"dict"` // expected points given both choices
	AdjustedB float64 `json:"adjusted_b" parquet:"dict"`
}

// leagueRows returns a function that makes the rows of a league, reusing memory.
func leagueRows(plan results.Plan) (func(l *results.League) ([]LeagueRow, error), error) {
	s, err := analysis.NewScorer(plan)
	if err != nil {
		return nil, err
	}
	rows := make([]LeagueRow, len(plan.Field))
	ratio := func(q analysis.Quantity, i int) float64 {
		part, base := s.Value(q, i)
		return float64(part) / float64(base)
	}
	return func(l *results.League) ([]LeagueRow, error) {
		if err := s.Score(l); err != nil {
			return nil, err
		}
		for seat, i := range l.Seats {
			c := s.Count(i)
			points, _ := s.Value(analysis.Points, i)
			differ, clean := s.Value(analysis.Differ, i)
			rows[i] = LeagueRow{
				League: int32(l.Index), Player: plan.Field[i].Name, PlayerID: game.PlayerID(seat),
				Matches: int32(c.Matches), Wins: int32(c.Wins), Draws: int32(c.Draws), Losses: int32(c.Losses), TechnicalLosses: int32(c.TechnicalLosses),
				Points: int32(points), Adjusted: ratio(analysis.Adjusted, i) * float64(c.Matches), Clean: int32(clean), Differ: int32(differ),
				Rank: ratio(analysis.Rank, i), ChampionShare: ratio(analysis.ChampionShare, i),
			}
		}
		return rows, nil
	}, nil
}

// matchRows returns a function that makes the rows of the matches of a league, reusing
// memory.
func matchRows(plan results.Plan) (func(l *results.League) ([]MatchRow, error), error) {
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, err
	}
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		return nil, err
	}
	even, total := draw.EvenWeight()
	chance := float64(even) / float64(total)
	scheduled := sched.Matches()
	rows := make([]MatchRow, len(scheduled))
	numbers := make([]int32, len(scheduled))
	return func(l *results.League) ([]MatchRow, error) {
		if len(l.Matches) != len(scheduled) || len(l.Seats) != len(plan.Field) {
			return nil, fmt.Errorf("league %d has %d matches of %d players, the plan %d of %d",
				l.Index, len(l.Matches), len(l.Seats), len(scheduled), len(plan.Field))
		}
		for i := range l.Matches {
			m, p := &l.Matches[i], scheduled[i]
			v := m.Verdict()
			r := MatchRow{
				League: int32(l.Index), Match: p.ID, Round: int32(p.Round),
				PlayerA: plan.Field[l.Seats[p.A]].Name, PlayerB: plan.Field[l.Seats[p.B]].Name,
				ChoiceA: choice(m.A), ChoiceB: choice(m.B), FaultA: fault(m.A), FaultB: fault(m.B),
				PointsA: int32(v.PointsA), PointsB: int32(v.PointsB),
				AdjustedA: float64(v.PointsA), AdjustedB: float64(v.PointsB),
			}
			if m.Number != results.NoNumber {
				numbers[i] = m.Number
				r.Number = &numbers[i]
				r.AdjustedA, r.AdjustedB = expected(m.A.Choice, m.B.Choice, chance)
			}
			rows[i] = r
		}
		return rows, nil
	}, nil
}

// A PairRow is what two players got from their matches with each other in one league,
// player_a before player_b in the field. The payoff of a to b is the mean of adjusted_a / matches over leagues.
type PairRow struct {
	League    int32   `json:"league"` // from 0
	PlayerA   string  `json:"player_a" parquet:"dict"`
	PlayerB   string  `json:"player_b" parquet:"dict"`
	Matches   int32   `json:"matches"`
	Clean     int32   `json:"clean"`  // matches decided by choices
	Differ    int32   `json:"differ"` // of these, with differing choices
	PointsA   int32   `json:"points_a"`
	PointsB   int32   `json:"points_b"`
	AdjustedA float64 `json:"adjusted_a"` // expected points given both choices
	AdjustedB float64 `json:"adjusted_b"`
}

// pairRows returns a function that makes the rows of the pairs of a league, reusing
// memory.
func pairRows(plan results.Plan) (func(l *results.League) ([]PairRow, error), error) {
	matches, err := matchRows(plan)
	if err != nil {
		return nil, err
	}
	at := map[[2]string]int{} // in rows, in either order
	var rows []PairRow
	for i, a := range plan.Field {
		for _, b := range plan.Field[i+1:] {
			at[[2]string{a.Name, b.Name}], at[[2]string{b.Name, a.Name}] = len(rows), len(rows)
			rows = append(rows, PairRow{PlayerA: a.Name, PlayerB: b.Name})
		}
	}
	return func(l *results.League) ([]PairRow, error) {
		list, err := matches(l)
		for k := range rows {
			rows[k] = PairRow{League: int32(l.Index), PlayerA: rows[k].PlayerA, PlayerB: rows[k].PlayerB}
		}
		for _, m := range list {
			r := &rows[at[[2]string{m.PlayerA, m.PlayerB}]]
			if r.PlayerA != m.PlayerA {
				m.PointsA, m.PointsB, m.AdjustedA, m.AdjustedB = m.PointsB, m.PointsA, m.AdjustedB, m.AdjustedA
			}
			r.Matches++
			if m.Number != nil {
				r.Clean++
				if m.ChoiceA != m.ChoiceB {
					r.Differ++
				}
			}
			r.PointsA, r.PointsB = r.PointsA+m.PointsA, r.PointsB+m.PointsB
			r.AdjustedA, r.AdjustedB = r.AdjustedA+m.AdjustedA, r.AdjustedB+m.AdjustedB
		}
		return rows, err
	}, nil
}

// expected is what two choices are worth before the number is drawn, given its chance
// to be even.
func expected(a, b game.Parity, even float64) (float64, float64) {
	switch {
	case a == b:
		return game.TiePoints, game.TiePoints
	case a == game.Even:
		return game.WinPoints * even, game.WinPoints * (1 - even)
	}
	return game.WinPoints * (1 - even), game.WinPoints * even
}

func choice(s game.Side) string {
	if s.Choice == game.NoParity {
		return ""
	}
	return s.Choice.String()
}

func fault(s game.Side) string {
	if s.Fault == game.NoFault {
		return ""
	}
	return s.Fault.String()
}
