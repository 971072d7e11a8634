package player

import (
	"cmp"
	"slices"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
)

// What stands for players that nobody has named.
const (
	nobody = "unknown"
	itself = "this player"
)

// calledIn returns the id by which the agent is called in a match.
func (p *Player) calledIn(m *match) string {
	own := p.ID()
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(m.as, own)
}

// identify finds out by which id the result of a match calls the agent, if the match has
// been played before its registration was answered: some managers begin within that.
func (p *Player) identify(m *match, msg *protocol.GameOver, opponent string) {
	if p.calledIn(m) != "" {
		return
	}
	own := ""
	if opponent != nobody {
		own = dialect.Opponent(msg, opponent)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.as = cmp.Or(own, itself)
}

// outcome turns a result of the player own into what the strategy observes. chosen
// is what the agent answered, for a referee that does not repeat it.
func outcome(own string, t strategies.Turn, chosen game.Parity, r dialect.Outcome) strategies.Outcome {
	o := strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: parity(r.Choices[own]), OpponentChoice: parity(r.Choices[t.Opponent]),
	}
	if r.Choices == nil || len(r.Choices) > 0 && o.Choice == o.OpponentChoice && o.Choice == game.NoParity {
		o.Choice = chosen
	}
	o.Number, o.Drew = r.DrawnNumber.Get()
	switch {
	case r.Status == "": // nobody has said
	case r.Status == protocol.StatusDraw:
		o.Result, o.Points = game.Tie, game.TiePoints
	case slices.Contains(r.TechnicalLossPlayerIDs, own):
		o.Result = game.TechnicalLoss
	case r.Winner == own:
		o.Result, o.Points = game.Win, game.WinPoints
	default:
		o.Result = game.Loss
	}
	if points, told := r.Score[own]; told {
		o.Points = points
	}
	return o
}

func parity(c protocol.Choice) game.Parity {
	p, _ := game.ParseParity(string(c)) // none where it is unknown, or invalid
	return p
}
