package judge_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// recorded returns what the agents whose names begin so recorded of a league of
// five over two legs. Each call returns exchanges of its own.
func recorded(t *testing.T, agents string) []*trace.Exchange {
	t.Helper()
	file, err := recording()
	if err != nil {
		t.Fatal(err)
	}
	read, err := trace.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(read.Exchanges, func(x *trace.Exchange) bool { return !strings.HasPrefix(x.Agent, agents) })
}

// recording plays the league and returns the file that its agents record.
var recording = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "league.jsonl")
	rec, err := trace.Create(path, trace.Head{Command: "test"}, time.Now)
	if err != nil {
		return nil, err
	}
	l := &host.League{
		Network:  new(host.Memory),
		Manager:  manager.Config{LeagueID: "cup", Players: 5, Legs: 2, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{{Concurrent: 4, Draw: func(m referee.Match) (int, error) { return game.FairDraw().Pick(game.LiveWord(1, m.League, m.ID)), nil }}},
		Tap:      rec.Tap,
	}
	for i := range 5 {
		f := builtin.All()[i]
		if i == 4 {
			f = broken{f}
		}
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{Config: agent.Config{Name: f.Info().Name}, Factory: f}})
	}
	_, err = l.Play(context.Background())
	if err := errors.Join(err, rec.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// broken is a strategy that fails in every other match, so that the league has
// technical losses.
type broken struct{ strategies.Factory }

func (b broken) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	inner, err := b.Factory.New(ctx, s)
	return &faulty{Strategy: inner}, err
}

type faulty struct {
	strategies.Strategy
	calls int
}

func (f *faulty) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if f.calls++; f.calls%2 == 0 {
		return 0, errors.New("out of ideas")
	}
	return f.Strategy.Choose(ctx, t)
}

// one returns what the rules say of the only league in a recording.
func one(t *testing.T, exchanges []*trace.Exchange) []judge.Outcome {
	t.Helper()
	leagues := divide(exchanges)
	if len(leagues) != 1 {
		t.Fatalf("the recording is divided into %d leagues, want 1", len(leagues))
	}
	return leagues[0].Apply(rules)
}

func divide(exchanges []*trace.Exchange) []*judge.League {
	return judge.Divide((&trace.Recording{Exchanges: exchanges}).Evidence())
}

// rules find every draw fair.
var rules = judge.Rules(judge.Options{Fair: func(game.Draw, []judge.Draw) (judge.Answer, string) { return judge.Holds, "" }})

// finding returns the ids of the rules that found something.
func finding(all []judge.Outcome) []string {
	var ids []string
	for _, o := range all {
		if len(o.Findings) > 0 {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// An honest league passes, no matter which agent recorded it, and every check has had
// something to look at.
func TestHonestLeague(t *testing.T) {
	t.Parallel()
	for agents, want := range map[string]struct{ matches, draws int }{"": {20, 16}, "manager": {20, 16}, "REF": {20, 16}, "P01": {8, 8}} {
		exchanges := recorded(t, agents)
		r := one(t, exchanges)
		for _, c := range r {
			if len(c.Findings) > 0 {
				t.Errorf("recorded by %q: %s does not hold: %v", agents, c.ID, c.Findings)
			}
			blind := c.ID == "deadlines" || c.ID == "commitments" || agents == "manager" && slices.Contains([]string{"choices", "offences", "same-result"}, c.ID) ||
				agents == "REF" && slices.Contains([]string{"standings", "champion"}, c.ID) || agents == "P01" && slices.Contains([]string{"same-result", "ties"}, c.ID)
			if c.Examined == 0 && !blind {
				t.Errorf("recorded by %q: %s had nothing to look at", agents, c.ID)
			}
		}
		league := divide(exchanges)[0]
		if n := league.Decided(); n != want.matches {
			t.Errorf("recorded by %q: %d results, want %d", agents, n, want.matches)
		}
		if n := len(league.Draws()); n != want.draws {
			t.Errorf("recorded by %q: %d draws, want %d", agents, n, want.draws)
		}
	}
}

// Two leagues of one name, one after the other, are two.
func TestLeaguesAreDivided(t *testing.T) {
	t.Parallel()
	xs := append(recorded(t, "P01"), recorded(t, "P01")...)
	if n := len(divide(xs)); n != 2 {
		t.Errorf("divided into %d leagues, want 2", n)
	}
}
