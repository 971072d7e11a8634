package player_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// strategy is a strategy made of functions, which writes down its calls.
type strategy struct {
	start   func(ctx context.Context, s strategies.Setup) error
	choose  func(ctx context.Context, t *strategies.Turn) (strategies.Choice, error)
	observe func(ctx context.Context, o *strategies.Outcome) error
	end     func() error

	fingerprint string // with one, the end of the factory is written down, too

	mu       sync.Mutex
	calls    []string
	setups   []strategies.Setup
	turns    []strategies.Turn
	outcomes []strategies.Outcome
}

func (f *strategy) Info() strategies.Info {
	return strategies.Info{Name: "scripted", Fingerprint: f.fingerprint}
}

func (f *strategy) Close() error {
	if f.fingerprint != "" {
		f.note("close factory")
	}
	return nil
}

func (f *strategy) note(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

func (f *strategy) log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

func (f *strategy) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	f.mu.Lock()
	f.setups = append(f.setups, s)
	f.mu.Unlock()
	f.note("start")
	if f.start != nil {
		if err := f.start(ctx, s); err != nil {
			return nil, err
		}
	}
	return (*strategySeat)(f), nil
}

type strategySeat strategy

func (s *strategySeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	f := (*strategy)(s)
	f.note("choose " + t.MatchID)
	f.mu.Lock()
	f.turns = append(f.turns, *t)
	f.mu.Unlock()
	if f.choose != nil {
		return f.choose(ctx, t)
	}
	return strategies.Even, nil
}

func (s *strategySeat) Observe(ctx context.Context, o *strategies.Outcome) error {
	f := (*strategy)(s)
	f.note("observe " + o.MatchID)
	f.mu.Lock()
	f.outcomes = append(f.outcomes, *o)
	f.mu.Unlock()
	if f.observe != nil {
		return f.observe(ctx, o)
	}
	return nil
}

func (s *strategySeat) Close() error {
	f := (*strategy)(s)
	f.note("close")
	if f.end != nil {
		return f.end()
	}
	return nil
}

// fakeManager answers registrations and queries as a test says. By default it
// takes everybody on as P01 of the league "cup" and does not answer queries.
type fakeManager struct {
	mu       sync.Mutex
	token    string
	league   string
	id       string
	answer   func(n int, m *protocol.LeagueRegisterRequest) (protocol.Message, error)
	queries  map[string]func(m *protocol.LeagueQuery) (any, error)
	requests []*protocol.LeagueRegisterRequest
	rpcIDs   []string
	asked    []string
}

func (f *fakeManager) endpoint() *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec: dialect.NewCodec(protocol.Strict), Sender: func() string { return "league_manager" }, Now: time.Now,
		Handlers: map[protocol.Type]wire.Handler{
			protocol.TypeLeagueRegisterRequest: func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
				m, err := wire.Decode[*protocol.LeagueRegisterRequest](in)
				if err != nil {
					return nil, err
				}
				f.mu.Lock()
				defer f.mu.Unlock()
				f.requests, f.rpcIDs = append(f.requests, m), append(f.rpcIDs, string(in.RPC.ID))
				if f.answer != nil {
					return f.answer(len(f.requests), m)
				}
				return f.accept(), nil
			},
			protocol.TypeLeagueQuery: func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
				m, err := wire.Decode[*protocol.LeagueQuery](in)
				if err != nil {
					return nil, err
				}
				f.mu.Lock()
				f.asked = append(f.asked, m.QueryType)
				answer := f.queries[m.QueryType]
				f.mu.Unlock()
				if answer == nil {
					return nil, protocol.Refuse(protocol.CodeLeagueNotStarted, in.Type, "not yet")
				}
				data, err := answer(m)
				if err != nil {
					return nil, err
				}
				raw, err := json.Marshal(data)
				r := &protocol.LeagueQueryResponse{QueryType: m.QueryType, Success: protocol.Some(true), Data: raw}
				r.MessageType = protocol.TypeLeagueQuery.Answer()
				return r, err
			},
		},
	}
}

// accept is a yes. The lock is held.
func (f *fakeManager) accept() *protocol.LeagueRegisterResponse {
	r := &protocol.LeagueRegisterResponse{Status: protocol.StatusAccepted, PlayerID: f.id, Reason: protocol.Null[string]()}
	r.MessageType, r.AuthToken, r.LeagueID = protocol.TypeLeagueRegisterRequest.Answer(), f.token, f.league
	return r
}

func (f *fakeManager) registrations() []*protocol.LeagueRegisterRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// keys are those of a match under the manager's present token.
func (f *fakeManager) keys(match, referee string) credential.KeyPair {
	f.mu.Lock()
	defer f.mu.Unlock()
	return credential.NewVerifier(f.token).MatchKeys(f.league, match, referee)
}

// sign is what the manager signs with.
func (f *fakeManager) sign() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return credential.NewVerifier(f.token).ManagerToken(f.league)
}
