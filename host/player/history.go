package player

import (
	"path/filepath"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/protocol"
)

// writeHistory writes what has been played so far, for people and tools. It is
// called at the end of a round and not more often: rewriting the file for every
// match would be quadratic.
func (p *Player) writeHistory(s *season) {
	own := p.ID()
	if p.member.Journal == nil || !protocol.ValidID(own) {
		return
	}
	history := p.history(s)
	if len(history) == 0 {
		return
	}
	file := filepath.Join(p.member.DataFolder("players"), own, "history.json")
	if err := disk.WriteJSON(file, map[string]any{"player_id": own, "matches": history}, 0o644); err != nil {
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
