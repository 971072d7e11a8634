package audit

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// choices checks that a result contains the choices of the players. A player
// that was called twice may have given two, of which the referee saw one.
func (e *Evidence) choices() Check {
	c := Check{ID: "choices", Rule: "a result contains the choices that the players gave"}
	for _, m := range e.Matches {
		for _, t := range m.results {
			for _, player := range m.Players {
				given := m.chosen(player)
				reported, ok := parity(t.Choices[player])
				switch {
				case len(given) == 0 && !ok:
				case len(given) == 0:
					c.unknown("the answer in which a player chose")
				case !ok:
					c.unknown("the choices in a result")
				default:
					c.Examined++
					if !slices.Contains(given, reported) {
						c.found("%s: %s answered %s, but %s received %s", m.ID, player, given[0], t.To, reported)
					}
				}
			}
		}
	}
	return c
}

// parity reads a choice as results spell it.
func parity(choice protocol.Choice) (game.Parity, bool) {
	p, err := game.ParseParity(string(choice))
	return p, err == nil
}

// chosen returns the different choices of a player.
func (m *Match) chosen(player string) []game.Parity {
	var all []game.Parity
	for _, a := range m.answers {
		if p, ok := parity(a.choice); ok && a.player == player && player != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// numbers checks that drawn numbers are in range and have the stated parity.
func (e *Evidence) numbers() Check {
	c := Check{ID: "numbers", Rule: "a drawn number is between 1 and 10 and has the stated parity; a technical loss has none"}
	for _, m := range e.Matches {
		for _, t := range m.results {
			n, drawn := t.Drawn.Get()
			technical := t.Status == protocol.StatusTechnicalLoss
			if !drawn && !technical {
				c.unknown("the drawn number")
				continue
			}
			c.Examined++
			switch {
			case technical && drawn && n != 0:
				c.found("%s: %s received the number %d although a technical loss decided the match", m.ID, t.To, n)
			case technical:
			case n < 1 || n > 10:
				c.found("%s: %s received the number %d; the protocol draws from 1 to 10", m.ID, t.To, n)
			case t.Parity != "" && !sameParity(t.Parity, n):
				c.found("%s: %s received that %d is %s", m.ID, t.To, n, t.Parity)
			}
		}
	}
	return c
}

// sameParity reports whether a word is the parity of a number. A word that is no
// parity is not held against the referee.
func sameParity(word string, n int) bool {
	p, ok := parity(protocol.Choice(word))
	return !ok || p == game.ParityOf(n)
}

// scoring checks that winner and points follow from the choices and the number.
func (e *Evidence) scoring() Check {
	c := Check{ID: "scoring", Rule: "winner and points follow from the choices and the number: 3 to 0, or 1 each"}
	for range e.unread {
		c.unknown("a result in a form that can be read")
	}
	for _, m := range e.Matches {
		for _, t := range m.results {
			if t.Conflict != "" {
				c.Examined++
				c.found("%s: the result that %s received contradicts itself: %s", m.ID, t.To, t.Conflict)
				continue
			}
			m.score(&c, t)
		}
	}
	return c
}

func (m *Match) score(c *Check, t Result) {
	sides, number, missing := m.sides(t)
	if missing == "" && !t.Decided && len(t.Score) == 0 {
		missing = "the winner, or to whom the result was sent"
	}
	if missing != "" {
		c.unknown(missing)
		return
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
	if t.Decided && t.Winner != winner {
		c.found("%s: with %s, %s and the number %d the winner is %s, but %s received %s",
			m.ID, side(t, m.Players[0]), side(t, m.Players[1]), number, nobody(winner), t.To, nobody(t.Winner))
		return
	}
	for i, points := range [2]int{v.PointsA, v.PointsB} {
		if reported, ok := t.Score[m.Players[i]]; ok && reported != points {
			c.found("%s: the protocol gives %s %s, but %s received %d", m.ID, m.Players[i], count(points, "point"), t.To, reported)
		}
	}
}

// sides returns what a result says of both players and the number, or what is
// missing to judge it.
func (m *Match) sides(t Result) (sides [2]game.Side, number int, missing string) {
	if !m.known() {
		return sides, 0, "the players of a match"
	}
	technical := t.Status == protocol.StatusTechnicalLoss
	if technical && len(t.AtFault) == 0 {
		return sides, 0, "who is at fault in a technical loss"
	}
	for i, p := range m.Players {
		choice, ok := parity(t.Choices[p])
		switch {
		case slices.Contains(t.AtFault, p):
			sides[i].Fault = game.FaultNoAnswer // the score is the same for all faults
		case !ok && !technical:
			return sides, 0, "the choices in a result"
		default:
			sides[i].Choice = choice
		}
	}
	number, drawn := t.Drawn.Get()
	if !drawn && !technical {
		return sides, 0, "the drawn number"
	}
	return sides, number, ""
}

func side(t Result, player string) string {
	if slices.Contains(t.AtFault, player) {
		return player + " at fault"
	}
	return player + " " + string(t.Choices[player])
}

func nobody(player string) string { return cmp.Or(player, "nobody") }

// sameResult checks that all messages about a match state the same result.
func (e *Evidence) sameResult() Check {
	c := Check{ID: "same-result", Rule: "both players and the manager receive the same result"}
	for _, m := range e.Matches {
		for i, t := range m.results {
			if i == 0 || t.Conflict != "" || m.results[0].Conflict != "" {
				continue
			}
			first := m.results[0]
			comparable, differ := first.against(t)
			switch {
			case !comparable:
				c.unknown("the winner and the number, in two messages about a match")
				continue
			case differ:
				c.found("%s: %s received %s; %s received %s", m.ID, first.To, first, t.To, t)
			}
			c.Examined++
		}
	}
	return c
}

// against compares two accounts of a match by what both state.
func (t Result) against(u Result) (comparable, differ bool) {
	n, drawn := t.Drawn.Get()
	k, drawnToo := u.Drawn.Get()
	if drawn && drawnToo {
		comparable, differ = true, n != k
	}
	if t.Decided && u.Decided {
		comparable, differ = true, differ || t.Winner != u.Winner
	}
	if t.whole && u.whole {
		comparable, differ = true, differ || t.Status != u.Status
	}
	return comparable, differ
}

// String describes a result.
func (t Result) String() string {
	s := cmp.Or(t.Status, "a result")
	if t.Decided {
		s += ", winner " + nobody(t.Winner)
	}
	if n, ok := t.Drawn.Get(); ok {
		s += ", number " + strconv.Itoa(n)
	}
	return s
}

// slack is the largest error of two timestamps in whole seconds: a timestamp is
// rounded down, a deadline up.
const slack = 2 * time.Second

// offences checks that no player has a technical loss that answered its last call
// in time and by the book. Whether a referee has to take any other answer cannot
// be judged.
func (e *Evidence) offences() Check {
	c := Check{ID: "offences", Rule: "a player that gave a valid choice in time gets no technical loss"}
	for _, m := range e.Matches {
		for _, t := range m.results {
			for _, player := range m.Players {
				a, ok := m.lastAnswer(player)
				if !ok || t.Conflict != "" {
					continue
				}
				technical := slices.Contains(t.AtFault, player)
				given := m.given(player)
				switch {
				case technical && !a.byTheBook:
					c.unknown("whether the referee had to take an answer that is not by the book")
				case given > 0 && a.after > given-slack && a.after > given/2:
				default:
					c.Examined++
					if technical {
						c.found("%s: %s answered %s after %v and still got a technical loss; the referee's reason: %s",
							m.ID, player, a.choice, a.after.Round(time.Millisecond), cmp.Or(t.Reason, "none"))
					}
				}
			}
		}
	}
	return c
}

// lastAnswer returns the answer of a player to its last call, false if there is
// none.
func (m *Match) lastAnswer(player string) (answer, bool) {
	last := -1
	for i, call := range m.calls {
		if call.player == player || call.player == "" {
			last = i
		}
	}
	for _, a := range m.answers {
		if a.player == player && a.call == last && last >= 0 {
			return a, true
		}
	}
	return answer{}, false
}

// given returns the longest time to choose that the referee gave a player, 0 if
// no call has a deadline.
func (m *Match) given(player string) time.Duration {
	var longest time.Duration
	for _, call := range m.calls {
		if call.player == player {
			longest = max(longest, call.given())
		}
	}
	return longest
}

// given returns the time that a call leaves, 0 if it does not say.
func (c *choiceCall) given() time.Duration {
	signed, err := protocol.ParseTimestamp(c.signed)
	deadline, errDeadline := protocol.ParseTimestamp(c.deadline)
	if err != nil || errDeadline != nil {
		return 0
	}
	return deadline.Sub(signed)
}

// deadlines checks that no timeout is reported before its deadline, by the
// referee's clock and by the recorder's.
func (e *Evidence) deadlines() Check {
	c := Check{ID: "deadlines", Rule: "a referee reports no timeout before the deadline it gave (two seconds allowed: timestamps are whole seconds)"}
	for _, m := range e.Matches {
		for _, claim := range m.timeouts {
			call := m.before(claim)
			signed, err := protocol.ParseTimestamp(claim.signed)
			if call == nil || call.given() == 0 || err != nil {
				c.unknown("the deadline that a timeout is about")
				continue
			}
			c.Examined++
			deadline, _ := protocol.ParseTimestamp(call.deadline) // given has read it
			if early := deadline.Sub(signed); early > slack && claim.at.Sub(call.at) < call.given()-slack {
				c.found("%s: a timeout of %s was reported %v before the deadline %s", m.ID, claim.player, early, protocol.Timestamp(deadline))
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
