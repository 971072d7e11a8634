package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// mostFeatured is how many of the user's strategies have a part of their own, as many as
// the answer describes.
const mostFeatured = 3

// Featured are the user's strategies that have a part of their own, by place.
func (s *source) Featured() []int {
	var list []int
	for _, i := range s.E.Order {
		if s.Mine(i) && len(list) < mostFeatured {
			list = append(list, i)
		}
	}
	return list
}

// IsFeatured reports whether a player has a part of its own.
func (s *source) IsFeatured(i int) bool { return slices.Contains(s.Featured(), i) }

// rival is how a player did against another one.
type rival struct {
	Field              int
	Name               string
	Differ             analysis.Estimate
	Points             float64 // adjusted
	Wins, Ties, Losses int64
	First              string // its first match against the player in the first league; "" if that is not shown
}

// Rivals are the opponents of a player, the one that it scores least against first.
func (s *source) Rivals(player int) []rival {
	first := make(map[int]string)
	for _, c := range s.Courses {
		if c.Player != player || c.League != 0 {
			continue
		}
		for _, m := range slices.Backward(c.Rows) {
			first[m.Opponent] = m.ID
		}
	}
	var list []rival
	for _, p := range s.E.Pairs {
		switch player {
		case p.A:
			list = append(list, rival{p.B, s.name(p.B), p.Differ, p.AdjustedA, p.WinsA, p.Draws, p.Matches - p.WinsA - p.Draws, first[p.B]})
		case p.B:
			list = append(list, rival{p.A, s.name(p.A), p.Differ, p.AdjustedB, p.WinsB, p.Draws, p.Matches - p.WinsB - p.Draws, first[p.A]})
		}
	}
	slices.SortStableFunc(list, func(a, b rival) int { return cmp.Compare(a.Points, b.Points) })
	return list
}

// course is what a player did in a league, match by match.
type course struct {
	League, Player int // Player is a field index
	Name           string
	Rows           []courseRow
}

// courseRow is a match with the side of the player first.
type courseRow struct {
	match
	Opponent int // field index
	Total    int // points of the player after the match
}

// mostRows bounds the size of the page.
const mostRows = 400

// newCourses lists what is shown match by match: the first league of the user's
// strategies, or of the best, and the first match that each fault has cost.
func (s *source) newCourses() (list []course) {
	shown := s.Featured()
	if len(shown) == 0 {
		shown = s.E.Order[:min(1, len(s.E.Order))]
	}
	sched, err := game.NewSchedule(len(s.E.Players), s.Run.Plan.Legs)
	if err != nil {
		return nil // the estimates would not exist
	}
	for _, l := range s.Records {
		for _, i := range s.E.Order {
			whole := l.Index == 0 && slices.Contains(shown, i)
			var costly []string // the matches that its faults cost first
			for _, f := range s.E.Players[i].Faults {
				if f.League == l.Index {
					costly = append(costly, f.Match)
				}
			}
			if whole || costly != nil {
				list = append(list, s.course(sched.Matches(), l, i, func(id string) bool { return whole || slices.Contains(costly, id) }))
			}
		}
	}
	return list
}

// course returns the wanted matches of a player in a league.
func (s *source) course(matches []game.Match, l *results.League, player int, want func(id string) bool) course {
	c, r := course{League: l.Index, Player: player, Name: s.name(player)}, Replay{Plan: s.Run.Plan, League: l}
	seat, total := slices.Index(l.Seats, player), 0
	for _, m := range matches {
		if m.A != seat && m.B != seat {
			continue
		}
		row := courseRow{match: r.match(m, l.Matches[m.Index]), Opponent: l.Seats[m.B]}
		if m.B == seat {
			row.Sides[0], row.Sides[1] = row.Sides[1], row.Sides[0]
			row.Opponent = l.Seats[m.A]
		}
		total += row.Sides[0].Points
		row.Total = total
		if len(c.Rows) < mostRows && want(m.ID) {
			c.Rows = append(c.Rows, row)
		}
	}
	return c
}

// Href leads to a match of a player: where matches are replayed, if the page is served
// beside that, or to its row; "" if it is not shown.
func (s *source) Href(league, player int, id string) string {
	if s.Replays {
		return fmt.Sprintf("leagues/%d/%s", league, id)
	}
	for _, c := range s.Courses {
		if c.League == league && c.Player == player && slices.ContainsFunc(c.Rows, func(m courseRow) bool { return m.ID == id }) {
			return fmt.Sprintf("#m-%d-%d-%s", league, player, id)
		}
	}
	return ""
}
