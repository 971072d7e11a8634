package judge

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Draw is one drawn number and the choices of the players; unknown choices are
// empty.
type Draw struct {
	Number  int
	Players [2]string
	Choices [2]string // "even" or "odd", of PLAYER_A and PLAYER_B
	// Verified reports that the number keeps the commitment of the referee.
	Verified bool
}

// chosen returns the choices of both players in a result.
func (t *result) chosen() [2]string {
	return [2]string{string(t.Choices[t.Players[0]]), string(t.Choices[t.Players[1]])}
}

// Draws returns the drawn numbers in the order of the matches.
func (l *League) Draws() (all []Draw) {
	for _, m := range l.matches {
		verified := len(m.draws) > 0 && !slices.ContainsFunc(m.draws, VerifiableDraw.broken)
		for _, t := range m.results {
			n, ok := t.DrawnNumber.Get()
			if !ok || t.Conflict != "" || t.technical() {
				continue
			}
			d := Draw{n, m.Players, t.chosen(), verified}
			if n != 0 || d.Choices[0] != "" && d.Choices[1] != "" { // else 0 may stand for no number
				all = append(all, d)
			}
			break
		}
	}
	return all
}

// Unverified returns the draws that no commitment proves to be fair, and how their
// numbers are drawn: as announced or, if nothing was, evenly from 1 to 10 or from the
// range that was seen, whose ends are left out, as what the range is taken from says
// nothing else; none if it is too large to be tested.
func (l *League) Unverified(announced game.Draw) (game.Draw, []Draw) {
	all := slices.DeleteFunc(l.Draws(), func(d Draw) bool { return d.Verified })
	fair := game.FairDraw()
	lo, hi, other := l.span()
	switch {
	case announced.Size() > 0:
		return announced, all
	case !other:
		return fair, all
	case lo == hi: // one number again and again is no range
		lo, hi = min(lo, fair.Number(0)), max(hi, fair.Number(fair.Size()-1))
	default:
		for _, end := range []int{lo, hi} {
			i := slices.IndexFunc(all, func(d Draw) bool { return d.Number == end })
			all = slices.Delete(all, max(i, 0), i+1)
		}
	}
	seen, err := game.UniformDraw(lo, hi)
	if err != nil { // more numbers than can be tested
		all = nil
	}
	return seen, all
}

// draws tests the numbers that are not verified; no test overrules a verified one. What
// a shorter range explains is another rule.
func (l *League) draws(v *Verdict, o Options) {
	rule, all := l.Unverified(o.Draw)
	if rule.Size() == 0 {
		v.unknown("how the numbers are drawn")
	}
	if o.Fair == nil || len(all) == 0 {
		return
	}
	v.Examined = len(all)
	answer, text := o.Fair(rule, all)
	lo, hi, _ := l.span()
	if shorter, err := game.UniformDraw(lo, hi); err == nil && answer == Broken && o.Draw.Size() == 0 && lo < hi {
		if a, _ := o.Fair(shorter, all); a != Broken {
			answer, text = Another, fmt.Sprintf("the numbers seem to come from %d to %d; the protocol draws from 1 to 10", lo, hi)
		}
	}
	if answer != Holds {
		v.add(answer, nil, "%s", text)
	}
}

// VerifiableDraw is a draw with everything that it follows from.
type VerifiableDraw struct {
	League  string    `json:"league_id"`
	Match   string    `json:"match_id"`
	Round   int       `json:"round_id"`
	Players [2]string `json:"players"`
	Choices [2]string `json:"choices"`
	Nonces  [2]string `json:"nonces"`
	// Commitment is what a player got before its choice.
	Commitment string `json:"draw_commitment"`
	Key        string `json:"draw_key"`
	Number     int    `json:"drawn_number"`
	// Broken is how the draw breaks the commitment; empty if it keeps it.
	Broken string `json:"broken,omitempty"`
}

func (d VerifiableDraw) broken() bool { return d.Broken != "" }

// VerifiableDraws returns the drawn numbers of the matches in which the referee
// committed to a key, one for each player that got a commitment and a number, in the
// order of the matches.
func (l *League) VerifiableDraws() (all []VerifiableDraw) {
	for _, m := range l.matches {
		all = append(all, m.draws...)
	}
	return all
}

// verifyDraws verifies the drawn numbers of all matches.
func (l *League) verifyDraws() {
	matchOf := map[string]*match{} // by revealed key
	for _, t := range l.results {
		n, drawn := t.DrawnNumber.Get()
		hash := t.commitments[t.To]
		over, told := t.x.Request.(*protocol.GameOver)
		if !drawn || !told || hash == "" || !t.known() {
			continue
		}
		v := VerifiableDraw{
			League: l.ID, Match: t.ID, Round: t.Round, Players: t.Players, Choices: t.chosen(),
			Nonces: [2]string{over.DrawNonces[t.Players[0]], over.DrawNonces[t.Players[1]]}, Commitment: hash, Key: over.DrawKey, Number: n,
		}
		if err := t.verify(&v, matchOf); err != nil {
			v.Broken = err.Error()
		}
		if !slices.Contains(t.draws, v) { // a repeated message
			t.draws = append(t.draws, v)
		}
	}
}

// verify reports how a draw breaks its commitment. matchOf holds the keys that have
// been revealed.
func (m *match) verify(v *VerifiableDraw, matchOf map[string]*match) error {
	if other := matchOf[v.Key]; other != nil && other != m {
		return fmt.Errorf("%w: %s", draws.ErrReused, other.ID)
	}
	if v.Key != "" {
		matchOf[v.Key] = m
	}
	for _, hash := range m.commitments {
		if hash != v.Commitment {
			return errors.New("the players got different commitments")
		}
	}
	about := draws.Match{League: v.League, ID: v.Match, Round: v.Round}
	for i, p := range v.Players {
		about.Players[i] = draws.Player{ID: p, Choice: v.Choices[i], Nonce: v.Nonces[i]}
		if given := m.answers[p]; len(given) > 0 && !slices.ContainsFunc(given, func(a *answer) bool { return string(a.choice) == v.Choices[i] }) {
			return fmt.Errorf("the result has another choice than the player gave (%s)", p)
		}
		if nonce := m.nonces[p]; v.Key != "" && nonce != "" && nonce != v.Nonces[i] {
			return fmt.Errorf("%w (%s)", draws.ErrNonce, p)
		}
	}
	return about.Verify(v.Commitment, v.Key, v.Number)
}

// commitments counts each match once. A referee that commits to numbers may leave out no
// match of players that ask for it.
func (l *League) commits(v *Verdict) {
	some := slices.ContainsFunc(l.matches, func(m *match) bool { return len(m.commitments) > 0 })
	for _, m := range l.matches {
		i := slices.IndexFunc(m.draws, VerifiableDraw.broken)
		switch {
		case i >= 0 && m.restarted: // a referee that lost its data has lost the key
			v.unknown("the key of a match that began again")
		case i >= 0:
			v.examine(false, m.exchanges, "%s: %d cannot be verified: %s", m.ID, m.draws[i].Number, m.draws[i].Broken)
		case len(m.draws) > 0:
			v.Examined++
		case some && m.offered && len(m.commitments) == 0 && slices.ContainsFunc(m.results, func(t *result) bool { _, drawn := t.DrawnNumber.Get(); return drawn }):
			v.examine(false, m.exchanges, "%s: the referee gave no commitment, which it gave in other matches", m.ID)
		case len(m.commitments) > 0 && len(m.answers) > 0 && !m.again:
			v.unknown("the number of a match that ended without one after a choice")
		}
	}
}
