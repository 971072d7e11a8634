package strategytest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// barer is a factory that can also make a seat in a bare VM, which protects nobody from its script.
type barer interface {
	NewBare(s strategies.Setup) (strategies.Strategy, error)
}

// Timing is how long the decisions of a strategy take.
type Timing struct {
	Strategy    string   `json:"strategy"`
	Kind        string   `json:"kind"`
	Decisions   int      `json:"decisions"`
	Nanoseconds float64  `json:"ns_per_decision"` // median over leagues
	Bare        *float64 `json:"bare_ns_per_decision"`
	Ratio       *float64 `json:"ratio"` // median over pairs of leagues, one after the other
}

// Time times leagues for a while by a clock, alternately with and without the sandbox of a
// script, so that other load on the machine affects both alike.
func Time(ctx context.Context, now func() time.Time, f strategies.Factory, most time.Duration) (Timing, error) {
	info := f.Info()
	t := Timing{Strategy: info.Name, Kind: string(info.Kind)}
	var own, bare []float64
	bareFactory, hasBare := f.(barer)
	for began, league := now(), 0; league < 3 || now().Sub(began) < most; league++ {
		ns, err := timeLeague(ctx, now, league, func(s strategies.Setup) (strategies.Strategy, error) { return f.New(ctx, s) })
		if err != nil {
			return t, err
		}
		own = append(own, ns)
		t.Decisions += TimedMatches
		if !hasBare {
			continue
		}
		if ns, err = timeLeague(ctx, now, league, bareFactory.NewBare); err != nil {
			return t, err
		}
		bare = append(bare, ns)
	}
	t.Nanoseconds = median(own)
	if hasBare {
		b := median(bare)
		for i := range own {
			own[i] /= bare[i]
		}
		ratio := median(own)
		t.Bare, t.Ratio = &b, &ratio
	}
	return t, nil
}

// TimedMatches is how many matches a league has that is timed.
const TimedMatches = (timedPlayers - 1) * 10

const timedPlayers = 16

// timeLeague returns nanoseconds per decision in one league against random opponents.
func timeLeague(ctx context.Context, now func() time.Time, league int, open func(strategies.Setup) (strategies.Strategy, error)) (_ float64, err error) {
	turns, outcomes := timedLeague(league)
	setup := strategies.Setup{
		ID: game.PlayerID(0), Rounds: TimedMatches, Legs: 10, Key: game.StrategyKey(1, league, 0),
		Rand: game.NewRand(game.StrategyKey(1, league, 0)),
	}
	for seat := range timedPlayers {
		setup.Field = append(setup.Field, game.PlayerID(seat))
	}
	seat, err := open(setup)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, seat.Close()) }()
	began := now()
	for i := range turns {
		setup.Rand.Rekey(game.ChoosePosition(turns[i].Match))
		if _, err := seat.Choose(ctx, &turns[i]); err != nil {
			return 0, err
		}
		setup.Rand.Rekey(game.ObservePosition(turns[i].Match))
		if err := seat.Observe(ctx, &outcomes[i]); err != nil {
			return 0, err
		}
	}
	return float64(now().Sub(began).Nanoseconds()) / TimedMatches, nil
}

// timedLeague makes a league for one seat before the clock starts.
func timedLeague(league int) (turns []strategies.Turn, outcomes []strategies.Outcome) {
	chance := game.NewRand(game.StrategyKey(2, league, 0))
	var standing strategies.Standing
	for i := range TimedMatches {
		t := strategies.Turn{
			Match: uint64(i), MatchID: fmt.Sprintf("R%dM1", i+1), Round: i + 1,
			Opponent: game.PlayerID(1 + i%(timedPlayers-1)), Role: game.RoleA + game.Role(i/(timedPlayers-1)%2), Standing: standing,
		}
		a := game.Side{Choice: game.Even + game.Parity(chance.IntN(2))}
		b := game.Side{Choice: game.Even + game.Parity(chance.IntN(2))}
		number := 1 + chance.IntN(10)
		v := game.Judge(a, b, number)
		standing.Add(v.ResultA, v.PointsA)
		turns = append(turns, t)
		outcomes = append(outcomes, strategies.Outcome{
			Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
			Choice: a.Choice, OpponentChoice: b.Choice, Number: number, Drew: true, Result: v.ResultA, Points: v.PointsA,
		})
	}
	return turns, outcomes
}

// Timed returns a factory that tells took how long each choice of its strategies takes.
func Timed(f strategies.Factory, now func() time.Time, took func(time.Duration)) strategies.Factory {
	return &timedFactory{f, now, took}
}

// timedFactory times the choices of its strategies.
type timedFactory struct {
	strategies.Factory
	now  func() time.Time
	took func(time.Duration)
}

// New implements strategies.Factory.
func (f *timedFactory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := f.Factory.New(ctx, s)
	if err != nil {
		return nil, err
	}
	return &timedStrategy{made, f}, nil
}

type timedStrategy struct {
	strategies.Strategy
	of *timedFactory
}

// Choose implements strategies.Strategy.
func (s *timedStrategy) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	start := s.of.now()
	choice, err := s.Strategy.Choose(ctx, t)
	s.of.took(s.of.now().Sub(start))
	return choice, err
}
