package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// choices checks that a result contains the choices of the players.
func (e *Evidence) choices() Check {
	c := Check{ID: "choices", Rule: "a result contains the choices that the players gave"}
	for _, m := range e.Matches {
		for _, t := range m.results {
			for player, a := range m.answers {
				reported := t.Outcome.Choices[player]
				if !a.accepted || reported == "" {
					continue
				}
				c.Examined++
				if reported != a.choice {
					c.found("%s: %s answered %s, but %s received %s", m.ID, player, a.choice, t.To, reported)
				}
			}
		}
	}
	return c
}

// numbers checks that drawn numbers are in range and have the stated parity.
func (e *Evidence) numbers() Check {
	c := Check{ID: "numbers", Rule: "a drawn number is between 1 and 10 and has the stated parity; a technical loss has none"}
	for _, m := range e.Matches {
		for _, t := range m.results {
			n, drawn := t.Outcome.Drawn.Get()
			if t.Invalid != nil {
				continue
			}
			c.Examined++
			switch technical := t.Outcome.Status == protocol.StatusTechnicalLoss; {
			case technical && drawn && n != 0:
				c.found("%s: the number %d was drawn although a technical loss decided the match", m.ID, n)
			case technical:
			case !drawn:
				c.found("%s: %s received no number", m.ID, t.To)
			case n < 1 || n > 10:
				c.found("%s: the number is %d", m.ID, n)
			case t.Parity != "" && t.Parity != game.ParityOf(n).String():
				c.found("%s: %s received that %d is %s", m.ID, t.To, n, t.Parity)
			}
		}
	}
	return c
}

// scoring checks that winner and points follow from the choices and the number.
func (e *Evidence) scoring() Check {
	c := Check{ID: "scoring", Rule: "winner and points follow from the choices and the number: 3 to 0, or 1 each"}
	for _, m := range e.Matches {
		for _, t := range m.results {
			switch {
			case t.Invalid != nil:
				c.Examined++
				c.found("%s: %v", m.ID, t.Invalid)
			case m.Players[0] != "" && m.Players[1] != "":
				m.score(&c, t)
			}
		}
	}
	return c
}

func (m *Match) score(c *Check, t Result) {
	o := t.Outcome
	var sides [2]game.Side
	for i, p := range m.Players {
		choice, err := game.ParseParity(string(o.Choices[p]))
		switch {
		case slices.Contains(o.Offenders, p):
			sides[i].Fault = game.FaultNoAnswer // the score is the same for all faults
		case err != nil && o.Status != protocol.StatusTechnicalLoss:
			return // unknown
		default:
			sides[i].Choice = choice
		}
	}
	number, drawn := o.Drawn.Get()
	if !drawn && o.Status != protocol.StatusTechnicalLoss {
		return // numbers reports it
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
		c.found("%s: with %s, %s and the number %d the winner is %s, but %s received %s",
			m.ID, side(o, m.Players[0]), side(o, m.Players[1]), number, nobody(winner), t.To, nobody(o.Winner))
		return
	}
	for i, points := range [2]int{v.PointsA, v.PointsB} {
		if reported, ok := o.Score[m.Players[i]]; ok && reported != points {
			c.found("%s: %s has %d points, but %s received %d", m.ID, m.Players[i], points, t.To, reported)
		}
	}
}

func side(o dialect.Outcome, player string) string {
	if slices.Contains(o.Offenders, player) {
		return player + " at fault"
	}
	return player + " " + string(o.Choices[player])
}

func nobody(player string) string { return cmp.Or(player, "nobody") }

// sameResult checks that all messages about a match state the same result.
func (e *Evidence) sameResult() Check {
	c := Check{ID: "same-result", Rule: "both players and the manager receive the same result"}
	for _, m := range e.Matches {
		for i, t := range m.results {
			if i == 0 || t.Invalid != nil || m.results[0].Invalid != nil {
				continue
			}
			c.Examined++
			was, is := m.results[0], t
			if was.Outcome.Winner != is.Outcome.Winner || was.Outcome.Status != is.Outcome.Status ||
				was.Outcome.Drawn.Value() != is.Outcome.Drawn.Value() {
				c.found("%s: %s received %s, winner %s, number %d; %s received %s, winner %s, number %d", m.ID,
					was.To, was.Outcome.Status, nobody(was.Outcome.Winner), was.Outcome.Drawn.Value(),
					is.To, is.Outcome.Status, nobody(is.Outcome.Winner), is.Outcome.Drawn.Value())
			}
		}
	}
	return c
}

// slack is the largest error of two timestamps in whole seconds: a timestamp is
// rounded down, a deadline up.
const slack = 2 * time.Second

// offences checks that no player that answered in time has a technical loss.
func (e *Evidence) offences() Check {
	c := Check{ID: "offences", Rule: "a player that gave a valid choice in time gets no technical loss"}
	for _, m := range e.Matches {
		for player, a := range m.answers {
			given := m.given(player)
			if !a.accepted || !a.choice.Valid() || given > 0 && a.after > given-slack && a.after > given/2 {
				continue
			}
			for _, t := range m.results {
				if t.Invalid != nil {
					continue
				}
				c.Examined++
				if slices.Contains(t.Outcome.Offenders, player) {
					c.found("%s: %s answered %s after %v and still got a technical loss: %s", m.ID, player, a.choice, a.after.Round(time.Millisecond), t.Outcome.Reason)
					break
				}
			}
		}
	}
	return c
}

// given returns the longest time to choose that the referee gave a player, 0 if
// no call has a deadline.
func (m *Match) given(player string) time.Duration {
	var longest time.Duration
	for _, call := range m.calls {
		if call.player == player && !call.deadline.IsZero() && !call.signed.IsZero() {
			longest = max(longest, call.deadline.Sub(call.signed))
		}
	}
	return longest
}

// deadlines checks that no timeout is reported before its deadline.
func (e *Evidence) deadlines() Check {
	c := Check{ID: "deadlines", Rule: "a referee reports no timeout before the deadline it gave (two seconds allowed: timestamps are whole seconds)"}
	for _, m := range e.Matches {
		for _, claim := range m.timeouts {
			call := m.before(claim)
			if call == nil || call.deadline.IsZero() || claim.signed.IsZero() {
				continue
			}
			c.Examined++
			if early := call.deadline.Sub(claim.signed); early > slack {
				c.found("%s: a timeout of %s was reported %v before the deadline %s", m.ID, claim.player, early, protocol.Timestamp(call.deadline))
			}
		}
	}
	return c
}

// before returns the last call for a choice before a timeout was reported, nil
// if there was none.
func (m *Match) before(c timeoutClaim) *choiceCall {
	for i := len(m.calls) - 1; i >= 0; i-- {
		if call := &m.calls[i]; call.player == c.player && !call.at.After(c.at) {
			return call
		}
	}
	return nil
}
