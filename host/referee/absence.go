package referee

import (
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// absentMatches is the number of matches in a row in which a player has not answered
// one kind of message, after which that is asked only once in each match, and with a
// short time, until the player answers.
const absentMatches = 3

// probeShare is the part of the usual time that an absent player has: with the
// defaults, a second to join and 6 seconds to choose.
const probeShare = 5

// absence is what a player does not answer: an invitation, or a call for a choice. A
// program that hangs while it chooses still joins.
type absence struct {
	player string
	want   protocol.Type
}

// absent reports whether a side is to be asked only once, and with a short time.
func (r *Referee) absent(m *match, side int, want protocol.Type) bool {
	if m.reach().Absent[side] && want == protocol.TypeGameJoinAck {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absences[absence{m.Players[side], want}] >= absentMatches
}

// answered notes that a player has answered.
func (r *Referee) answered(player string, want protocol.Type) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.absences, absence{player, protocol.TypeGameJoinAck})
	delete(r.absences, absence{player, want})
}

// missed notes that a player has lost a match by a fault, and why. An unusable
// answer is not an absence.
func (r *Referee) missed(m *match, player string, fault game.Fault, why error) {
	if !silent(fault) || wire.CodeOf(why) == protocol.CodeInvalidMove {
		return
	}
	gone := absence{player, protocol.TypeGameJoinAck}
	if p := m.state(); p.Phase() == game.CollectingChoices {
		gone.want = protocol.TypeChooseParityResponse
	}
	r.mu.Lock()
	r.absences[gone]++
	now := r.absences[gone]
	r.mu.Unlock()
	if now == absentMatches {
		r.emit(Event{Kind: Absent, Match: m.Match, Round: m.Round, Player: player, Matches: now})
	}
}
