package player

import (
	"path/filepath"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/protocol"
)

// view writes the history for people and tools, at the end of a round and not
// oftener: rewriting it for every match would be quadratic.
func (r *record) view(own string, history []outcome) error {
	if r == nil || len(history) == 0 || !protocol.ValidID(own) {
		return nil
	}
	return disk.WriteJSON(filepath.Join(r.players, own, "history.json"), map[string]any{"player_id": own, "matches": history}, 0o644)
}

// writeHistory writes what has been played so far for people to read.
func (p *Player) writeHistory(s *season) {
	if p.record == nil {
		return
	}
	if err := p.record.view(p.ID(), p.history(s)); err != nil {
		p.cfg.Log.Warn("the history could not be written", "error", err)
	}
}

// history lists the matches that have ended, in the order they did.
func (p *Player) history(s *season) []outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]outcome, 0, len(s.ended))
	for _, o := range s.ended {
		line := outcome{
			MatchID: o.MatchID, Round: o.Round, OpponentID: o.Opponent, Choice: o.Choice.String(),
			OpponentChoice: o.OpponentChoice.String(), Result: o.Result.String(), Points: o.Points,
		}
		if o.Drew {
			n := o.Number
			line.Number = &n
		}
		list = append(list, line)
	}
	return list
}

// outcome is one line of the history.
type outcome struct {
	MatchID        string `json:"match_id"`
	Round          int    `json:"round_id,omitempty"`
	OpponentID     string `json:"opponent_id"`
	Choice         string `json:"my_choice,omitempty"`
	OpponentChoice string `json:"opponent_choice,omitempty"`
	Number         *int   `json:"drawn_number"`
	Result         string `json:"result"`
	Points         int    `json:"points"`
}
