package audit

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// choices checks that a result holds the choices that the players gave.
func (e *Evidence) choices() Check {
	c := Check{ID: "choices", Rule: "the choices in a result are those that the players gave"}
	for _, m := range e.Matches {
		for _, t := range m.told {
			for player, a := range m.answers {
				told := t.Outcome.Choices[player]
				if !a.taken || told == "" {
					continue
				}
				c.Examined++
				if told != a.choice {
					c.found("%s: %s answered %s, and %s was told %s", m.ID, player, a.choice, t.To, told)
				}
			}
		}
	}
	return c
}

// numbers checks that numbers are those that the rules allow, and have the
// parity that is said of them.
func (e *Evidence) numbers() Check {
	c := Check{ID: "numbers", Rule: "a drawn number is between 1 and 10 and has the parity that is told with it; a technical loss draws none"}
	for _, m := range e.Matches {
		for _, t := range m.told {
			n, drawn := t.Outcome.Drawn.Get()
			if t.Wrong != nil {
				continue
			}
			c.Examined++
			switch technical := t.Outcome.Status == protocol.StatusTechnicalLoss; {
			case technical && drawn && n != 0:
				c.found("%s: %d was drawn in a match that was decided on technical grounds", m.ID, n)
			case technical:
			case !drawn:
				c.found("%s: %s was told no number", m.ID, t.To)
			case n < 1 || n > 10:
				c.found("%s: the number is %d", m.ID, n)
			case t.Parity != "" && t.Parity != game.ParityOf(n).String():
				c.found("%s: %s was told that %d is %s", m.ID, t.To, n, t.Parity)
			}
		}
	}
	return c
}

// scoring checks that winner and points follow from choices and number.
func (e *Evidence) scoring() Check {
	c := Check{ID: "scoring", Rule: "winner and points follow from the choices and the number: 3 to 0, or 1 each"}
	for _, m := range e.Matches {
		for _, t := range m.told {
			switch {
			case t.Wrong != nil:
				c.Examined++
				c.found("%s: %v", m.ID, t.Wrong)
			case m.Players[0] != "" && m.Players[1] != "":
				m.score(&c, t)
			}
		}
	}
	return c
}

func (m *Match) score(c *Check, t Telling) {
	o := t.Outcome
	var sides [2]game.Side
	for i, p := range m.Players {
		choice, err := game.ParseParity(string(o.Choices[p]))
		switch {
		case slices.Contains(o.Offenders, p):
			sides[i].Fault = game.FaultNoAnswer // which does not matter for the score
		case err != nil && o.Status != protocol.StatusTechnicalLoss:
			return // not told
		default:
			sides[i].Choice = choice
		}
	}
	number, drawn := o.Drawn.Get()
	if !drawn && o.Status != protocol.StatusTechnicalLoss {
		return // found elsewhere
	}
	c.Examined++
	v := game.Judge(sides[0], sides[1], number)
	winner := ""
	switch {
	case v.PointsA > v.PointsB:
		winner = m.Players[0]
	case v.PointsB > v.PointsA:
		winner = m.Players[1]
	}
	if o.Winner != winner {
		c.found("%s: with %s and %s and the number %d the winner is %s, and %s was told %s",
			m.ID, side(o, m.Players[0]), side(o, m.Players[1]), number, nobody(winner), t.To, nobody(o.Winner))
		return
	}
	for i, points := range [2]int{v.PointsA, v.PointsB} {
		if told, ok := o.Score[m.Players[i]]; ok && told != points {
			c.found("%s: %s has %d points, and %s was told %d", m.ID, m.Players[i], points, t.To, told)
		}
	}
}

func side(o protocol.Outcome, player string) string {
	if slices.Contains(o.Offenders, player) {
		return player + " at fault"
	}
	return player + " " + string(o.Choices[player])
}

func nobody(player string) string {
	if player == "" {
		return "nobody"
	}
	return player
}

// sameResult checks that everybody was told the same of a match.
func (e *Evidence) sameResult() Check {
	c := Check{ID: "same-result", Rule: "both players and the manager are told the same result"}
	for _, m := range e.Matches {
		for i, t := range m.told {
			if i == 0 || t.Wrong != nil || m.told[0].Wrong != nil {
				continue
			}
			c.Examined++
			was, is := m.told[0], t
			if was.Outcome.Winner != is.Outcome.Winner || was.Outcome.Status != is.Outcome.Status ||
				was.Outcome.Drawn.Value() != is.Outcome.Drawn.Value() {
				c.found("%s: %s was told %s, winner %s, number %d; and %s was told %s, winner %s, number %d", m.ID,
					was.To, was.Outcome.Status, nobody(was.Outcome.Winner), was.Outcome.Drawn.Value(),
					is.To, is.Outcome.Status, nobody(is.Outcome.Winner), is.Outcome.Drawn.Value())
			}
		}
	}
	return c
}

// slack is how much two timestamps in whole seconds may be off: a timestamp
// is cut, a deadline is rounded up.
const slack = 2 * time.Second

// offences checks that nobody lost on technical grounds who had answered in
// time.
func (e *Evidence) offences() Check {
	c := Check{ID: "offences", Rule: "nobody who gave a valid choice in time loses on technical grounds"}
	for _, m := range e.Matches {
		for player, a := range m.answers {
			given := m.given(player)
			if !a.taken || !a.choice.Valid() || given > 0 && a.after > given-slack && a.after > given/2 {
				continue
			}
			for _, t := range m.told {
				if t.Wrong != nil {
					continue
				}
				c.Examined++
				if slices.Contains(t.Outcome.Offenders, player) {
					c.found("%s: %s answered %s after %v and is said to be at fault: %s", m.ID, player, a.choice, a.after.Round(time.Millisecond), t.Outcome.Reason)
					break
				}
			}
		}
	}
	return c
}

// given is the longest time that a player was given to choose by the referee's
// own word, 0 if it gave none.
func (m *Match) given(player string) time.Duration {
	var longest time.Duration
	for _, call := range m.asked {
		if call.player == player && !call.deadline.IsZero() && !call.signed.IsZero() {
			longest = max(longest, call.deadline.Sub(call.signed))
		}
	}
	return longest
}

// deadlines checks that the referee calls nobody late before the deadline that
// it gave.
func (e *Evidence) deadlines() Check {
	c := Check{ID: "deadlines", Rule: "a referee does not call a player late before the deadline that it gave (two seconds allowed, since timestamps are whole seconds)"}
	for _, m := range e.Matches {
		for _, claim := range m.errors {
			call := m.before(claim)
			if call == nil || call.deadline.IsZero() || claim.signed.IsZero() {
				continue
			}
			c.Examined++
			if early := call.deadline.Sub(claim.signed); early > slack {
				c.found("%s: %s was called late %v before its deadline %s", m.ID, claim.player, early, protocol.Timestamp(call.deadline))
			}
		}
	}
	return c
}

// before returns the last call for a choice before a player was called late,
// nil if there was none.
func (m *Match) before(c claim) *asking {
	for i := len(m.asked) - 1; i >= 0; i-- {
		if call := &m.asked[i]; call.player == c.player && !call.at.After(c.at) {
			return call
		}
	}
	return nil
}
