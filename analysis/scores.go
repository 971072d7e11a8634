package analysis

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Quantity is a number that every player has in every league, and whose mean over
// leagues an experiment estimates.
type Quantity uint8

// The quantities. Points, rates and shares are per match; a rank is a place by raw
// points, equal points sharing their places.
const (
	Adjusted Quantity = iota // adjusted points
	Points                   // raw points
	WinRate
	AdjustedWinRate
	Differ // share of differing choices among the matches decided by choices
	ChampionShare
	Rank
	quantities // how many there are
)

// String returns the name in the JSON document: "win_rate".
func (q Quantity) String() string {
	return [quantities]string{"adjusted", "points", "win_rate", "adjusted_win_rate", "differ", "champion_share", "rank"}[q]
}

// Quantities returns all of them, the one to compare strategies on first.
func Quantities() []Quantity {
	list := make([]Quantity, quantities)
	for i := range list {
		list[i] = Quantity(i)
	}
	return list
}

// Of returns the estimate of a quantity from a player's estimates.
func (q Quantity) Of(p *Player) Estimate {
	return [quantities]Estimate{p.Adjusted, p.Points, p.WinRate, p.AdjustedWinRate, p.Differ, p.ChampionShare, p.Rank}[q]
}

// titleParts is what a league's title is divided into: a multiple of all numbers up to
// 20. If more than 20 players have the most points, a share is rounded in the ninth
// digit.
const titleParts = 232_792_560

// Scorer returns what each player did in single leagues: the values whose means are the
// estimates of an [Accumulator]. It is for one goroutine at a time.
type Scorer struct {
	acc       *Accumulator
	technical bool
	seats     []int // by field index, of the league being looked at
}

// NewScorer returns a scorer for the leagues of a plan. It fails as [NewAccumulator]
// does.
func NewScorer(plan results.Plan) (*Scorer, error) {
	acc, err := NewAccumulator(plan)
	if err != nil {
		return nil, err
	}
	return &Scorer{acc: acc, seats: make([]int, len(plan.Field))}, nil
}

// Players is the number of players of the plan.
func (s *Scorer) Players() int { return len(s.acc.players) }

// Score takes one league, which the other methods are about until the next. A record
// that does not fit the plan is an error.
func (s *Scorer) Score(l *results.League) error {
	a := s.acc
	if err := a.tallyLeague(*l); err != nil {
		return fmt.Errorf("score league %d: %w", l.Index, err)
	}
	a.foldPairs(l.Seats)
	for i := range a.league.players {
		a.league.raw[i] = a.league.players[i].raw
	}
	for seat, field := range l.Seats {
		s.seats[field] = seat
	}
	s.technical = s.technical || a.league.technical
	return nil
}

// Count is how a player's matches in the league ended. Losses include technical losses.
type Count struct {
	Matches, Wins, Draws, Losses, TechnicalLosses int64
}

// Count returns how the matches of a player, by field index, ended.
func (s *Scorer) Count(player int) Count {
	t := &s.acc.league.players[player]
	return Count{
		Matches: s.acc.games, Wins: t.wins, Draws: t.draws, Losses: s.acc.games - t.wins - t.draws, TechnicalLosses: t.technical,
	}
}

// Value returns a player's value in the league as a fraction part/base, neither
// negative. The base is the same in all leagues, except for [Differ] in leagues with
// technical losses: there it is the number of matches decided by choices, which may be
// 0.
func (s *Scorer) Value(q Quantity, player int) (part, base int64) {
	t := &s.acc.league.players[player]
	switch q {
	case Adjusted:
		return t.adj, s.acc.games * s.acc.unit
	case Points:
		return t.raw, s.acc.games
	case WinRate:
		return t.wins, s.acc.games
	case AdjustedWinRate:
		return t.adjWins, s.acc.games * s.acc.unit
	case Differ:
		return t.differ, t.clean
	case ChampionShare:
		above, level := s.place(player)
		if above > 0 {
			return 0, titleParts
		}
		return titleParts / level, titleParts
	default: // Rank
		above, level := s.place(player)
		return 2*above + level + 1, 2
	}
}

// Against returns a player's adjusted points in the league from matches with some
// opponents only, by field index, as [Scorer.Value] does. The base is 0 if there is no
// opponent.
func (s *Scorer) Against(player int, opponents []bool) (part, base int64) {
	a := s.acc
	for other, counts := range opponents {
		if !counts || other == player {
			continue
		}
		x, y := s.seats[player], s.seats[other]
		at := pairIndex(len(opponents), min(x, y), max(x, y)) * int(outcomes)
		var c [outcomes]int64
		for o := range c {
			c[o] = int64(a.league.counts[at+o])
		}
		if x > y {
			c = mirrored(c)
		}
		wins := (c[evenWin]+c[evenLoss])*a.even + (c[oddWin]+c[oddLoss])*(a.unit-a.even) + c[faultSecond]*a.unit
		part += wins*winPoints + c[drawn]*drawPoints*a.unit
		base += int64(a.legs) * a.unit
	}
	return part, base
}

// place returns how many players have more raw points in the league, and how many have
// as many, the player included.
func (s *Scorer) place(player int) (above, level int64) {
	for _, x := range s.acc.league.raw {
		switch own := s.acc.league.raw[player]; {
		case x > own:
			above++
		case x == own:
			level++
		}
	}
	return above, level
}

// Range returns the range of a quantity in the leagues so far.
func (s *Scorer) Range(q Quantity) (low, high float64) {
	r := span{0, 1}
	switch q {
	case Adjusted:
		r = s.acc.adjustedPoints(s.technical)
	case Points:
		r = span{0, game.WinPoints}
	case AdjustedWinRate:
		r = s.acc.adjustedWin(s.technical)
	case Rank:
		r = span{1, float64(s.Players())}
	}
	return r.low, r.high
}
