package referee

import (
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// absentMatches is the number of matches in a row without a word from a player,
// after which it is asked only once in each match until it answers.
const absentMatches = 3

// backoff is how often a player is asked again.
func (r *Referee) backoff(player string) game.Backoff {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.cfg.Backoff
	if r.absences[player] >= absentMatches {
		b.Retries = 0
	}
	return b
}

// answered notes that a player is there.
func (r *Referee) answered(player string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.absences, player)
}

// missed notes that a player has lost a match by a fault, and why. An unusable
// answer is not an absence.
func (r *Referee) missed(m *match, player string, fault game.Fault, why error) {
	switch fault {
	case game.FaultNoJoin, game.FaultNoAnswer, game.FaultDisconnect, game.FaultConnect:
	default:
		return
	}
	if wire.CodeOf(why) == protocol.CodeInvalidMove {
		return
	}
	r.mu.Lock()
	r.absences[player]++
	now := r.absences[player]
	r.mu.Unlock()
	if now == absentMatches {
		r.emit(Event{Kind: Absent, Match: m.Match, Round: m.Round, Player: player, Matches: now})
	}
}
