package playback_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	agents "github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/trace/playback"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// strategy returns a built-in strategy by its name.
func strategy(name string) strategies.Factory {
	all := builtin.All()
	return all[slices.IndexFunc(all, func(f strategies.Factory) bool { return f.Info().Name == name })]
}

// recorded returns what one agent recorded of a league between always-even and
// always-odd, whose draws are all 4.
func recorded(t *testing.T, agent string) []*trace.Exchange {
	t.Helper()
	path := filepath.Join(t.TempDir(), "league.jsonl")
	rec, err := trace.Create(path, trace.Head{Command: "test"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	l := &host.League{
		Network:  new(host.Memory),
		Manager:  manager.Config{LeagueID: "cup", Players: 2, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{{Draw: four}},
		Tap:      rec.Tap,
	}
	for _, name := range []string{"always-even", "always-odd"} {
		l.Seats = append(l.Seats, player.Config{Config: agents.Config{Name: name}, Factory: strategy(name)})
	}
	if _, err := l.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, err := trace.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(read.Exchanges, func(x *trace.Exchange) bool { return x.Agent != agent })
}

func four(referee.Match) (int, error) { return 4, nil }

// replay plays the recording back to an agent.
func replay(t *testing.T, exchanges []*trace.Exchange, run func(context.Context, host.Agent) error) ([]playback.Step, error) {
	t.Helper()
	p := playback.New(exchanges)
	p.Timeout = time.Hour // a slow machine is no reason to fail
	agent := host.Agent{Network: p, Name: "agent", Manager: playback.Manager(exchanges)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, agent) }()
	steps, err := p.Run(ctx)
	cancel()
	if failed := <-ended; failed != nil && !errors.Is(failed, context.Canceled) {
		t.Errorf("the agent failed: %v", failed)
	}
	return steps, err
}

func playerOf(name string) func(context.Context, host.Agent) error {
	return func(ctx context.Context, a host.Agent) error {
		return a.Player(ctx, player.Config{Config: agents.Config{Mode: protocol.Tolerant, Now: time.Now}, Factory: strategy(name), Watch: -1})
	}
}

// different describes the steps that differ.
func different(steps []playback.Step) (found []string) {
	for _, s := range steps {
		if s.Same() {
			continue
		}
		text := string(s.Recorded.Type) + ": " + s.Recorded.Outcome()
		if s.Replayed == nil {
			text += " -> not sent"
		} else {
			text += " -> " + s.Replayed.Outcome()
		}
		found = append(found, text)
	}
	return found
}

func TestSameStrategyAnswersTheSame(t *testing.T) {
	t.Parallel()
	exchanges := recorded(t, "P01")
	steps, err := replay(t, exchanges, playerOf("always-even"))
	if err != nil || len(steps) == 0 || len(different(steps)) > 0 {
		t.Errorf("%d steps, error %v, different: %v; want some steps and no difference", len(steps), err, different(steps))
	}
}

func TestOtherStrategyDiffersInItsChoice(t *testing.T) {
	t.Parallel()
	steps, err := replay(t, recorded(t, "P01"), playerOf("always-odd"))
	want := []string{"CHOOSE_PARITY_CALL: CHOOSE_PARITY_RESPONSE: even -> CHOOSE_PARITY_RESPONSE: odd"}
	if got := different(steps); err != nil || !slices.Equal(got, want) {
		t.Errorf("different: %q, error %v; want %q", got, err, want)
	}
}

func TestRefereeConductsTheMatchAgain(t *testing.T) {
	t.Parallel()
	exchanges := recorded(t, "REF01")
	for _, c := range []struct {
		name   string
		number int
	}{{"the same draw", 4}, {"another draw", 7}} {
		steps, err := replay(t, exchanges, func(ctx context.Context, a host.Agent) error {
			return a.Referee(ctx, referee.Config{Config: agents.Config{Mode: protocol.Tolerant, Now: time.Now}, Draw: func(referee.Match) (int, error) { return c.number, nil }})
		})
		if err != nil || len(steps) == 0 || len(different(steps)) > 0 {
			t.Errorf("%s: %d steps, error %v, different: %v; want some steps and no difference", c.name, len(steps), err, different(steps))
		}
	}
}

// An agent that ends before it has registered again ends the replay.
func TestCanceledReplayReturnsTheCause(t *testing.T) {
	t.Parallel()
	p := playback.New(recorded(t, "P01"))
	cause := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if steps, err := p.Run(ctx); !errors.Is(err, cause) || len(steps) > 0 {
		t.Errorf("%d steps, error %v; want none and the cause", len(steps), err)
	}
}

// An agent that does not register again ends the replay with an error.
func TestMissingRegistration(t *testing.T) {
	t.Parallel()
	exchanges := recorded(t, "P01")
	silent := playback.New(exchanges)
	silent.Timeout = time.Millisecond
	if _, err := silent.Listen(t.Context(), "agent", jsonrpc.Config{}); err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "LEAGUE_REGISTER_REQUEST") {
		t.Errorf("error %v, want one that names the missing registration", err)
	}
}

// A call that the recording does not have fails like a connection that is
// refused, so the agent continues as it would then.
func TestUnrecordedCallFails(t *testing.T) {
	t.Parallel()
	p := playback.New(recorded(t, "P01"))
	_, err := p.From("agent").RoundTrip(t.Context(), &jsonrpc.Outgoing{URL: "http://nowhere/mcp", Body: []byte(`{}`)})
	var failed *jsonrpc.CallError
	if !errors.As(err, &failed) || failed.Kind != jsonrpc.ErrConnect || !strings.Contains(err.Error(), "the recording has no answer") {
		t.Errorf("the call failed with %v, want a connection error that says what is missing", err)
	}
}

// The last answer to a repeated request is given again.
func TestRepeatedCallGetsTheLastAnswer(t *testing.T) {
	t.Parallel()
	exchanges := recorded(t, "P01")
	i := slices.IndexFunc(exchanges, func(x *trace.Exchange) bool { return x.Type == protocol.TypeLeagueRegisterRequest })
	p := playback.New(exchanges)
	for range 2 {
		reply, err := p.From("agent").RoundTrip(t.Context(), &jsonrpc.Outgoing{URL: exchanges[i].Peer, Body: exchanges[i].Raw})
		if err != nil || string(reply.Body) != string(exchanges[i].RawAnswer) {
			t.Errorf("got %v, %v; want the recorded answer", reply, err)
		}
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	rec := &trace.Recording{Exchanges: []*trace.Exchange{
		{Agent: "REF01", Sent: true, Match: "R1M1"}, {Agent: "P01"},
		{Agent: "launcher", Sent: true},
	}}
	for agent, n := range map[string]int{"P01": 1, "REF01": 1, "": 0, "P02": 0, "launcher": 0} {
		if part, agents := playback.Part(rec, agent); len(part) != n || !slices.Equal(agents, []string{"P01", "REF01"}) {
			t.Errorf("%q: %v of %q", agent, part, agents)
		}
	}
	if part, agents := playback.Part(&trace.Recording{}, ""); part != nil || agents != nil {
		t.Errorf("an empty recording has %v, %v", part, agents)
	}
}
