package served

import (
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// Guest is an agent for another manager than that of this package.
type Guest struct {
	URL string // at which it will listen

	factory *Factory
	port    int
	output  tail
	process *process
}

// Guest returns the agent before it is started, at an address of its own. The error says
// that the address is not known before it registers.
func (f *Factory) Guest() (*Guest, error) {
	g := &Guest{URL: f.spec.URL, factory: f}
	if g.URL != "" {
		return g, nil
	}
	if f.spec.Shared() {
		return nil, fmt.Errorf("its command has no %s, so that its address is not known", portWord)
	}
	var err error
	g.port, err = freePort()
	g.URL = fmt.Sprintf("http://127.0.0.1:%d/mcp", g.port)
	return g, err
}

// Start starts the agent for a manager, if it does not run already.
func (g *Guest) Start(manager string) (err error) {
	if g.factory.spec.URL == "" {
		g.process, err = launch(g.factory.spec.fill(g.port, manager), g.factory.config.Dir, &g.output)
	}
	return err
}

// Close ends what Start has started.
func (g *Guest) Close() { g.process.kill() }

// Again opens the same agent without a cassette, with a process for each league or with
// one for all.
func (f *Factory) Again(eachLeague bool) (*Factory, error) {
	c := f.config
	c.EachLeague, c.Cassette, c.Offline = eachLeague, "", false
	return Open(f.spec, c)
}

// Restarts reports whether there is a process of ours for each league, if that is wanted.
func (f *Factory) Restarts() bool { return !f.spec.Shared() }

// RepeatedMatches is the length of the leagues of [Factory.Repeats].
const RepeatedMatches = 20

// Repeats plays two leagues of one course against one opponent, without a cassette, and returns
// in how many matches of the second the agent chooses as in the first. eachLeague starts its
// process again between them.
func (f *Factory) Repeats(ctx context.Context, eachLeague bool) (n int, err error) {
	again, err := f.Again(eachLeague)
	if err != nil {
		return 0, err
	}
	first, err := again.course(ctx)
	second, failed := again.course(ctx)
	for i := range min(len(first), len(second)) {
		if first[i] == second[i] {
			n++
		}
	}
	return n, errors.Join(err, failed, again.Close())
}

// course plays a league of a fixed course and returns the choices.
func (f *Factory) course(ctx context.Context) (choices []strategies.Choice, err error) {
	s, err := f.New(ctx, strategies.Setup{ID: "P01", Field: []string{"P01", "P02"}, Rounds: RepeatedMatches, Legs: RepeatedMatches})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var standing strategies.Standing
	for i := range RepeatedMatches {
		t := strategies.Turn{Match: uint64(i), MatchID: fmt.Sprintf("R%dM1", i+1), Round: i + 1, Opponent: "P02", Role: game.RoleA, Standing: standing}
		choice, err := s.Choose(ctx, &t)
		if err != nil {
			return choices, err
		}
		choices = append(choices, choice)
		a, b := choice.Resolve(nil), game.ParityOf(i/2)
		v := game.Judge(game.Side{Choice: a}, game.Side{Choice: b}, i%10+1)
		o := strategies.Outcome{
			Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role, Choice: a, OpponentChoice: b,
			Number: i%10 + 1, Drew: true, Result: v.ResultA, Points: v.PointsA,
		}
		standing.Add(o.Result, o.Points)
		if err := s.Observe(ctx, &o); err != nil {
			return choices, err
		}
	}
	return choices, nil
}
