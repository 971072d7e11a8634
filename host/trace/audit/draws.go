package audit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/protocol"
)

// commitment is what a player got before its choice in a match with a verifiable
// draw: the first, since a referee that gives another may know choices by then.
type commitment struct {
	player, hash string
}

// opening is what a referee revealed to a player with a drawn number.
type opening struct {
	key    string
	nonces map[string]string
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

// commits notes the commitment in a call for a choice, and the nonce in its answer.
func (m *Match) commits(player string, call *protocol.ChooseParityCall, a *protocol.ChooseParityResponse) {
	if call.DrawCommitment != "" && player != "" {
		if m.commitmentOf(player) == "" {
			m.commitments = append(m.commitments, commitment{player, call.DrawCommitment})
		}
	}
	if a != nil {
		m.adds(player, a.DrawNonce)
	}
}

// adds notes the nonce in a choice. A player has one nonce for a match.
func (m *Match) adds(player, nonce string) {
	if player == "" || nonce == "" {
		return
	}
	if m.nonces == nil {
		m.nonces = map[string]string{}
	}
	m.nonces[player] = nonce
}

func (m *Match) commitmentOf(player string) string {
	for _, c := range m.commitments {
		if c.player == player {
			return c.hash
		}
	}
	return ""
}

// joins notes whether a player said that it understands verifiable draws.
func (m *Match) joins(a *protocol.GameJoinAck) {
	m.offered = m.offered || a != nil && a.DrawScheme == draws.Scheme
}

// VerifiableDraws returns the drawn numbers of the matches in which the referee
// committed to a key, one for each player that got a commitment and a number, in the
// order of the matches.
func (e *Evidence) VerifiableDraws() []VerifiableDraw {
	var all []VerifiableDraw
	matchOf := map[string]*Match{} // by revealed key
	for _, m := range e.Matches {
		for _, t := range m.results {
			n, drawn := t.Drawn.Get()
			hash := m.commitmentOf(t.To)
			if !drawn || hash == "" || !m.known() {
				continue
			}
			v := m.verifiable(e.League, hash, t)
			v.Number = n
			if err := m.verify(&v, matchOf); err != nil {
				v.Broken = err.Error()
			}
			if !slices.Contains(all, v) { // a repeated message
				all = append(all, v)
			}
		}
	}
	return all
}

// verifiable collects what a drawn number follows from.
func (m *Match) verifiable(league, hash string, t Result) VerifiableDraw {
	v := VerifiableDraw{League: league, Match: m.ID, Round: m.Round, Players: m.Players, Commitment: hash, Key: t.opened.key}
	for i, p := range m.Players {
		v.Choices[i], v.Nonces[i] = string(t.Choices[p]), t.opened.nonces[p]
	}
	return v
}

var (
	errTwoKeys = errors.New("the players got different commitments")
	errChoice  = errors.New("the result has another choice than the player gave")
)

// verify reports how a draw breaks its commitment. matchOf holds the keys that have
// been revealed.
func (m *Match) verify(v *VerifiableDraw, matchOf map[string]*Match) error {
	if other := matchOf[v.Key]; other != nil && other != m {
		return fmt.Errorf("%w: %s", draws.ErrReused, other.ID)
	}
	if v.Key != "" {
		matchOf[v.Key] = m
	}
	for _, c := range m.commitments {
		if c.hash != v.Commitment {
			return errTwoKeys
		}
	}
	about := draws.Match{League: v.League, ID: v.Match, Round: v.Round}
	for i, p := range v.Players {
		about.Players[i] = draws.Player{ID: p, Choice: v.Choices[i], Nonce: v.Nonces[i]}
		choice, _ := parity(protocol.Choice(v.Choices[i]))
		if given := m.chosen(p); len(given) > 0 && !slices.Contains(given, choice) {
			return fmt.Errorf("%w (%s)", errChoice, p)
		}
		if nonce := m.nonces[p]; v.Key != "" && nonce != "" && nonce != v.Nonces[i] {
			return fmt.Errorf("%w (%s)", draws.ErrNonce, p)
		}
	}
	return about.Verify(v.Commitment, v.Key, v.Number)
}

// commitments checks that numbers keep the commitments to them. It counts each match
// once. A referee that commits to numbers may leave out no match of players that ask
// for it.
func (e *Evidence) commitments() Check {
	c := Check{ID: commitmentsID, Rule: "a drawn number follows from the key that the referee committed to before the choices"}
	drawn := map[string][]VerifiableDraw{}
	for _, v := range e.VerifiableDraws() {
		drawn[v.Match] = append(drawn[v.Match], v)
	}
	commits := slices.ContainsFunc(e.Matches, func(m *Match) bool { return len(m.commitments) > 0 })
	for _, m := range e.Matches {
		list := drawn[m.ID]
		delete(drawn, m.ID) // one that was played again has all of its draws here
		broken := slices.IndexFunc(list, func(v VerifiableDraw) bool { return v.Broken != "" })
		switch {
		case broken >= 0:
			c.Examined++
			c.found("%s: %d cannot be verified: %s", m.ID, list[broken].Number, list[broken].Broken)
		case len(list) > 0:
			c.Examined++
		case commits && m.offered && len(m.commitments) == 0 && m.drew():
			c.Examined++
			c.found("%s: the referee gave no commitment, which it gave in other matches", m.ID)
		case len(m.commitments) > 0 && len(m.answers) > 0 && !m.again:
			c.unknown("the number of a match that ended without one after a choice")
		}
	}
	return c
}

const commitmentsID = "commitments"

// drew reports whether a number was drawn.
func (m *Match) drew() bool {
	return slices.ContainsFunc(m.results, func(t Result) bool { _, drawn := t.Drawn.Get(); return drawn })
}

// VerifiedDraws returns how many draws of the league keep the referee's commitments,
// out of those that should; zero of zero if no referee committed to a key.
func (r *Report) VerifiedDraws() (verified, all int) {
	for _, c := range r.Checks {
		if c.ID == commitmentsID {
			return c.Examined - c.Broken, c.Examined
		}
	}
	return 0, 0
}
