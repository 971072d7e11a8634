package strategytest

import (
	"cmp"
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// player calls the strategy under test as hosts do: by the rules of package
// seat, with one turn and one outcome that are reused.
type player struct {
	seat.Seat
	turn    strategies.Turn
	outcome strategies.Outcome
}

// sit starts a seat whose randomness has the given key.
func sit(ctx context.Context, f strategies.Factory, setup strategies.Setup, key game.Key) (*player, error) {
	setup.Key, setup.Rand = key, game.NewRand(key)
	p := &player{Seat: seat.Seat{Factory: f, Setup: setup}}
	if err := p.Start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// sourceOf returns what an error of the strategy names as its source.
func sourceOf(info strategies.Info) string { return cmp.Or(info.Source, info.Name) }

// choose asks for a choice; it fills in the turn's standing.
func (p *player) choose(ctx context.Context, t strategies.Turn) (strategies.Choice, error) {
	p.turn = t
	p.turn.Standing = p.Standing()
	return p.Choose(ctx, &p.turn)
}

func (p *player) observe(ctx context.Context, o strategies.Outcome) error {
	p.outcome = o
	return p.Observe(ctx, &p.outcome)
}

// opClose is the end of a seat. Scripts have no hook for it.
const opClose strategies.Op = "close"

// judged returns the outcome of a match for the player of mine.
func judged(t strategies.Turn, mine, theirs game.Side, number int) strategies.Outcome {
	v := game.Judge(mine, theirs, number)
	o := strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
		Choice: mine.Choice, OpponentChoice: theirs.Choice,
		Result: v.ResultA, Points: v.PointsA,
	}
	if !v.Technical() {
		o.Number, o.Drew = number, true
	}
	return o
}
