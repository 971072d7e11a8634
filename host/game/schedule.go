package game

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of a league. They bound memory before a plan is accepted: a league of
// MaxPlayers and one leg has about half a million matches.
const (
	MinPlayers = 2
	MaxPlayers = 1000
	MaxLegs    = 10_000
	MaxMatches = 2_000_000
)

// DefaultLegs is how often each pair meets in experiments and live leagues unless
// their user says otherwise: often enough for a strategy to learn its opponents.
const DefaultLegs = 10

// Match is one scheduled match. A and B are seats, counted from 0.
type Match struct {
	Index int    // position in the league's schedule, from 0
	Round int    // from 1
	ID    string // "R1M1": match 1 of round 1
	A, B  int
}

// Schedule is a round robin of one or more legs. It is immutable and safe for concurrent use.
type Schedule struct {
	players, legs int
	matches       []Match
	perRound      int
	byes          []int // one seat a round, or empty
}

// NewSchedule lays out a round robin by the circle method (Kirkman, 1847). With an odd number of
// players one has a bye in every round.
//
// On the circle, seats r+k and r-k (modulo the circle's odd size m) meet in round r; the first of
// them is player A. As k runs over 1..(m-1)/2 every seat stands first against exactly half of the
// others, so roles A and B differ for nobody, or by one where a fixed seat is added to make the
// number even. In every second leg all roles are swapped, which balances each pair over two.
func NewSchedule(players, legs int) (*Schedule, error) {
	if players < MinPlayers || players > MaxPlayers {
		return nil, fmt.Errorf("schedule: %d players, want %d to %d", players, MinPlayers, MaxPlayers)
	}
	if legs < 1 || legs > MaxLegs {
		return nil, fmt.Errorf("schedule: %d legs, want 1 to %d", legs, MaxLegs)
	}
	total := int64(players*(players-1)/2) * int64(legs)
	if total > MaxMatches {
		return nil, fmt.Errorf("schedule: %d players and %d legs make %d matches, want at most %d; take fewer legs",
			players, legs, total, MaxMatches)
	}
	circle := players - 1 + players%2
	s := &Schedule{players: players, legs: legs, perRound: players / 2, matches: make([]Match, 0, total)}
	for leg := range legs {
		for r := range circle {
			s.addRound(leg*circle+r+1, circle, r, leg%2 == 1)
		}
	}
	return s, nil
}

func (s *Schedule) addRound(round, circle, r int, swap bool) {
	add := func(a, b int) {
		if swap {
			a, b = b, a
		}
		i := len(s.matches)
		s.matches = append(s.matches, Match{
			Index: i, Round: round, A: a, B: b,
			ID: fmt.Sprintf("R%dM%d", round, i-(round-1)*s.perRound+1),
		})
	}
	if s.players%2 == 1 {
		s.byes = append(s.byes, r)
	} else if r%2 == 0 { // the fixed seat is A and B alternately
		add(r, s.players-1)
	} else {
		add(s.players-1, r)
	}
	for k := 1; k <= (circle-1)/2; k++ {
		add((r+k)%circle, (r-k+circle)%circle)
	}
}

// Players is the number of seats.
func (s *Schedule) Players() int { return s.players }

// Legs is how often each pair meets.
func (s *Schedule) Legs() int { return s.legs }

// Rounds is the number of rounds of all legs together.
func (s *Schedule) Rounds() int { return len(s.matches) / s.perRound }

// Matches returns all matches in the order of the schedule. The caller must not change it.
func (s *Schedule) Matches() []Match { return s.matches }

// Round returns the matches of a round, counted from 1.
func (s *Schedule) Round(round int) []Match {
	return s.matches[(round-1)*s.perRound : round*s.perRound]
}

// Bye returns the seat that does not play in a round, counted from 1, or false if all play.
func (s *Schedule) Bye(round int) (int, bool) {
	if len(s.byes) == 0 {
		return 0, false
	}
	return s.byes[round-1], true
}

// Find returns the match with the given id.
func (s *Schedule) Find(id string) (Match, bool) {
	ofRound, ofMatch, _ := strings.Cut(strings.TrimPrefix(id, "R"), "M")
	round, _ := strconv.Atoi(ofRound) // 0 for what is no number
	match, _ := strconv.Atoi(ofMatch)
	if round < 1 || round > s.Rounds() || match < 1 || match > s.perRound {
		return Match{}, false
	}
	p := s.Round(round)[match-1]
	if p.ID != id { // "R01M1", "R1M1x"
		return Match{}, false
	}
	return p, true
}

// PlayerID returns the id league.v2 gives a seat: "P01" for seat 0.
func PlayerID(seat int) string { return fmt.Sprintf("P%02d", seat+1) }
