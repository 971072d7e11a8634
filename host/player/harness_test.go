package player_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// patience is how long a test waits for what must happen before it fails.
const patience = 2 * time.Minute

// quick is a back-off for tests.
var quick = game.Backoff{Retries: 3, First: time.Millisecond, Most: 4 * time.Millisecond}

// rig is a player with a scripted manager and scripted referees.
type rig struct {
	t       testing.TB
	net     *jsonrpc.Loopback
	manager *fakeManager
	s       *strategy
	cfg     player.Config
	p       *player.Player
	calls   *wire.Caller
	url     string
	opened  int // players, each at an address of its own

	events  chan player.Event
	serving sync.WaitGroup
	stop    context.CancelFunc
	quit    context.CancelFunc // ends the player's server
	result  chan error
}

// newRig makes a player that has not been run.
func newRig(t testing.TB, change func(*rig)) *rig {
	t.Helper()
	r := &rig{
		t: t, net: new(jsonrpc.Loopback), s: new(strategy),
		manager: &fakeManager{id: "P01", token: "tok-P01-0123456789abcdef", league: "cup", queries: make(map[string]func(*protocol.LeagueQuery) (any, error))},
		cfg:     player.Config{Config: agent.Config{Name: "Ada", Timeout: 5 * time.Second, Backoff: quick}, Watch: -1, League: &player.League{}},
	}
	if change != nil {
		change(r)
	}
	r.cfg.Factory = r.s
	r.calls = r.caller("world")
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		r.serving.Wait()
	})
	managerURL := r.serve(ctx, "manager", r.manager.endpoint())
	r.cfg.Manager = wire.NewPeer(managerURL, dialect.Contracts)
	r.open()
	return r
}

func (r *rig) caller(name string) *wire.Caller {
	client := jsonrpc.NewClient(r.net.From(name), jsonrpc.ClientConfig{})
	r.t.Cleanup(func() { client.Close() })
	return &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)}
}

func (r *rig) serve(ctx context.Context, name string, h jsonrpc.Handler) string {
	r.t.Helper()
	srv, err := r.net.Listen(name, jsonrpc.Config{Lenient: true})
	if err != nil {
		r.t.Fatal(err)
	}
	r.serving.Go(func() { srv.Serve(ctx, h) })
	return srv.URL()
}

// open makes the player and serves it.
func (r *rig) open() {
	r.t.Helper()
	r.events = make(chan player.Event, 1000)
	r.result = make(chan error, 1)
	ctx, quit := context.WithCancel(context.Background())
	var h lazy
	r.opened++
	r.url = r.serve(ctx, fmt.Sprintf("player-%d", r.opened), &h)
	r.cfg.Endpoint, r.cfg.Caller = r.url, r.caller("player")
	events := r.events
	r.cfg.Events = func(e player.Event) { events <- e }
	p, err := player.New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	h.Handler, r.p, r.quit = p.Dispatcher(), p, quit
	r.t.Cleanup(quit)
}

// lazy is a handler that is set before the first request.
type lazy struct{ jsonrpc.Handler }

// running makes a player that has registered.
func running(t testing.TB, change func(*rig)) *rig {
	t.Helper()
	r := newRig(t, change)
	r.run()
	return r
}

// run runs the player and waits until it is registered.
func (r *rig) run() {
	r.t.Helper()
	r.start()
	r.until(player.Registered)
}

func (r *rig) start() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	p, result := r.p, r.result
	r.serving.Go(func() { result <- p.Run(ctx) })
	r.t.Cleanup(stop)
}

// finished waits for the end of Run.
func (r *rig) finished() error {
	r.t.Helper()
	select {
	case err := <-r.result:
		return err
	case <-time.After(patience):
		r.t.Fatal("the player does not end")
		return nil
	}
}

// finish waits for the end of Run, which must be without an error.
func (r *rig) finish() {
	r.t.Helper()
	if err := r.finished(); err != nil {
		r.t.Fatal(err)
	}
}

// file is the name of a file in the data of the player, and journal what is in its journal.
func (r *rig) file(name string) string {
	return filepath.Join(r.cfg.Data, "data", "players", "Ada", name)
}

func (r *rig) journal() []byte {
	r.t.Helper()
	text, err := os.ReadFile(r.file("journal"))
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

// restart ends the player's process, as far as that can be done within one, and
// starts another on the same data.
func (r *rig) restart() {
	r.t.Helper()
	r.stop()
	r.finish()
	r.quit()
	r.open()
}

// until waits for an event of a kind.
func (r *rig) until(kind player.EventKind) player.Event {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-r.events:
			if e.Kind == kind {
				return e
			}
		case err := <-r.result:
			r.result <- err
			if len(r.events) == 0 {
				r.t.Fatalf("the player ended before it was %s: %v", kind, err)
			}
		case <-deadline:
			r.t.Fatalf("waited %v for %s", patience, kind)
		}
	}
}

// send sends a message to the player.
func (r *rig) send(m protocol.Message) (protocol.Message, error) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return r.calls.Call(ctx, wire.NewPeer(r.url, dialect.Contracts), m)
}

// post sends a document as a program that shares no code with the player does, and
// returns what came back.
func (r *rig) post(document string) string {
	r.t.Helper()
	answer, err := r.calls.Client.Call(r.t.Context(), r.url, jsonrpc.Message{Body: []byte(document)})
	if err != nil {
		r.t.Fatalf("%s: %v", document, err)
	}
	return string(answer.Raw)
}

// must is send for what is to be accepted.
func must[T protocol.Message](r *rig, m protocol.Message) T {
	r.t.Helper()
	answer, err := r.send(m)
	if err != nil {
		r.t.Fatalf("%s: %v", m.Head().MessageType, err)
	}
	t, ok := answer.(T)
	if !ok {
		r.t.Fatalf("%s was answered by %T", m.Head().MessageType, answer)
	}
	return t
}

// refused checks that a message is refused, and how.
func (r *rig) refused(m protocol.Message, rpc int, code protocol.Code) *dialect.Refusal {
	r.t.Helper()
	answer, err := r.send(m)
	var refusal *dialect.Refusal
	if !errors.As(err, &refusal) {
		r.t.Errorf("%s: %+v, %v, want a refusal", m.Head().MessageType, answer, err)
		return &dialect.Refusal{}
	}
	if refusal.RPC != rpc || refusal.Code != code {
		r.t.Errorf("%s: refused with %d %s (%s), want %d %s", m.Head().MessageType, refusal.RPC, refusal.Code, refusal.Data, rpc, code)
	}
	return refusal
}

// wants compares the calls of the strategy.
func (r *rig) wants(calls ...string) {
	r.t.Helper()
	if got := r.s.log(); !slices.Equal(got, calls) {
		r.t.Errorf("the strategy's calls are %q, want %q", got, calls)
	}
}

var errBoom = fmt.Errorf("boom")

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
func (f *fakeManager) accept() *protocol.RegisterResponse {
	r := &protocol.RegisterResponse{Status: protocol.StatusAccepted, PlayerID: f.id, Reason: protocol.Null[string]()}
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

func (r *rig) fromManager(t protocol.Type) protocol.Header {
	h := protocol.NewHeader(t, "league_manager", protocol.Timestamp(time.Now()), "conv-"+string(t))
	h.LeagueID, h.AuthToken, h.RoundID = r.manager.league, r.manager.sign(), protocol.RoundNumber(1)
	return h
}

func (r *rig) announcement(matches ...protocol.AnnouncedMatch) *protocol.RoundAnnouncement {
	return &protocol.RoundAnnouncement{Header: r.fromManager(protocol.TypeRoundAnnouncement), Matches: matches}
}

func announced(match, a, b, referee string) protocol.AnnouncedMatch {
	return protocol.AnnouncedMatch{
		MatchID: match, GameType: protocol.GameEvenOdd, PlayerAID: a, PlayerBID: b, RefereeID: referee, RefereeEndpoint: "http://127.0.0.1:8001/mcp",
	}
}

func (r *rig) standings() *protocol.LeagueStandingsUpdate {
	return &protocol.LeagueStandingsUpdate{Header: r.fromManager(protocol.TypeLeagueStandingsUpdate), Standings: []protocol.Standing{standing(1, "P01")}}
}

func standing(rank int, id string) protocol.Standing {
	return protocol.Standing{
		Rank: rank, PlayerID: id, DisplayName: id, Played: protocol.Some(1), Wins: protocol.Some(0), Draws: protocol.Some(1), Losses: protocol.Some(0), Points: 1,
	}
}

func (r *rig) roundCompleted() *protocol.RoundCompleted {
	return &protocol.RoundCompleted{
		Header: r.fromManager(protocol.TypeRoundCompleted), MatchesCompleted: protocol.Some(1), MatchesPlayed: protocol.Some(1),
		NextRoundID: protocol.RoundNumber(2), Summary: &protocol.RoundSummary{TotalMatches: protocol.Some(1), Wins: protocol.Some(0), Draws: protocol.Some(1), TechnicalLosses: protocol.Some(0)},
	}
}

func (r *rig) leagueCompleted() *protocol.LeagueCompleted {
	return &protocol.LeagueCompleted{
		Header: r.fromManager(protocol.TypeLeagueCompleted), TotalRounds: protocol.Some(1), TotalMatches: protocol.Some(1),
		Champion: &protocol.Champion{PlayerID: "P02", DisplayName: "P02", Points: protocol.Some(3)}, FinalStandings: []protocol.Standing{standing(1, "P02"), standing(2, "P01")},
	}
}

func (r *rig) fromReferee(t protocol.Type, match string) protocol.Header {
	h := protocol.NewHeader(t, "referee:REF01", protocol.Timestamp(time.Now()), "conv-"+match)
	h.LeagueID, h.MatchID, h.GameType, h.RoundID = r.manager.league, match, protocol.GameEvenOdd, protocol.RoundNumber(1)
	h.AuthToken = r.manager.keys(match, "REF01").Send
	return h
}

func (r *rig) invitation(match string) *protocol.GameInvitation {
	return &protocol.GameInvitation{Header: r.fromReferee(protocol.TypeGameInvitation, match), RoleInMatch: protocol.PlayerA, OpponentID: "P02"}
}

func (r *rig) call(match string) *protocol.ChooseParityCall {
	none := protocol.Some(0)
	return &protocol.ChooseParityCall{
		Header: r.fromReferee(protocol.TypeChooseParityCall, match), PlayerID: "P01",
		Context:  &protocol.ChoiceContext{OpponentID: "P02", RoundID: protocol.RoundNumber(1), YourStandings: &protocol.OwnStandings{Wins: none, Losses: none, Draws: none, Points: none}},
		Deadline: protocol.Deadline(time.Now().Add(30 * time.Second)),
	}
}

func (r *rig) over(match string) *protocol.GameOver {
	return &protocol.GameOver{
		Header: r.fromReferee(protocol.TypeGameOver, match),
		GameResult: &protocol.GameResult{
			Status: protocol.StatusWin, WinnerPlayerID: protocol.Some("P01"), ResultDetails: protocol.ResultDetails{
				DrawnNumber: protocol.Some(8), NumberParity: protocol.Some("even"),
				Choices: map[string]protocol.Choice{"P01": "even", "P02": "odd"}, Reason: "P01 chose the parity of the drawn number",
			}},
	}
}

func (r *rig) gameError(match string) *protocol.GameError {
	told, err := protocol.Refuse(protocol.CodeTimeout, "", "too late").Message(r.fromReferee(protocol.TypeGameError, match))
	if err != nil {
		r.t.Fatal(err)
	}
	m := told.(*protocol.GameError)
	m.PlayerID, m.AffectedPlayer, m.GameState, m.ActionRequired = "P01", "P01", "COLLECTING_CHOICES", "CHOOSE_PARITY_RESPONSE"
	m.Retryable, m.RetryCount, m.MaxRetries = protocol.Some(true), protocol.Some(1), protocol.Some(3)
	m.RetryInfo = &protocol.RetryInfo{RetryCount: protocol.Some(1), MaxRetries: protocol.Some(3), NextRetryAt: protocol.Deadline(time.Now())}
	m.Consequence = "none"
	return m
}

// plays joins a match and chooses in it.
func (r *rig) plays(match string) protocol.Choice {
	r.t.Helper()
	must[*protocol.GameJoinAck](r, r.invitation(match))
	return r.choice(match)
}

func (r *rig) choice(match string) protocol.Choice {
	r.t.Helper()
	return must[*protocol.ChooseParityResponse](r, r.call(match)).Chosen()
}

// TestTolerant sends what foreign managers and referees send.
func TestTolerant(t *testing.T) {
	t.Parallel()
	r := running(t, func(r *rig) { r.cfg.Mode = protocol.Tolerant })
	tests := []struct{ name, body, want string }{
		{"no header fields", `{"jsonrpc":"2.0","id":1,"method":"handle_game_invitation","params":{"sender":"referee:R1","match_id":"A1","role_in_match":"player_b"}}`, `"accept":true`},
		{"no context", `{"jsonrpc":"2.0","id":2,"method":"choose_parity","params":{"sender":"referee:R1","match_id":"A1"}}`, `"parity_choice":"even"`},
		{"a choice of options", `{"jsonrpc":"2.0","id":12,"method":"choose_parity","params":{"sender":"referee:R1","match_id":"A1","options":["EVEN","ODD"]}}`, `"parity_choice":"EVEN"`},
		{"no invitation", `{"jsonrpc":"2.0","id":3,"method":"parity_choose","params":{"sender":"referee:R1","match_id":"A2","player_id":"P01","deadline":"2020-01-01T00:00:00Z"}}`, `"choice":"even"`},
		{"bare", `{"message_type":"GAME_INVITATION","sender":"referee:R1","match_id":"A3"}`, `"message_type":"GAME_JOIN_ACK"`},
		{"a payload beside an event", `{"event":"match.invite","data":{"sender":"referee:R1","match_id":"A4"}}`, `"message_type":"GAME_JOIN_ACK"`},
		{"params by position", `{"jsonrpc":"2.0","id":10,"method":"handle_game_invitation","params":[{"message_type":"GAME_INVITATION","sender":"referee:R1","match_id":"A5"}]}`, `"accept":true`},
		{"ids that are numbers", `{"jsonrpc":"2.0","id":11,"method":"handle_game_invitation","params":{"message_type":"GAME_INVITATION","sender":"referee","match_id":101,"round_id":1,"league_id":7,"opponent_id":2,"timestamp":1.5}}`, `"match_id":101`},
		{"round with a name", `{"jsonrpc":"2.0","id":4,"method":"notify_round","params":{"message_type":"ROUND_ANNOUNCEMENT","sender":"league_manager:LM01","round_id":"ROUND_1","matches":[]}}`, `ROUND_ANNOUNCEMENT_ACK`},
		{"result of a match unknown", `{"jsonrpc":"2.0","id":5,"method":"notify_match_result","params":{"message_type":"GAME_OVER","sender":"referee:R1","match_id":"A9","game_result":{"status":"DRAW"}}}`, `GAME_OVER_ACK`},
		{"flat result", `{"jsonrpc":"2.0","id":6,"method":"notify_match_result","params":{"message_type":"GAME_OVER","sender":"referee:R1","match_id":"A1","result":"WIN","your_choice":"even","opponent_choice":"odd","drawn_number":4}}`, `GAME_OVER_ACK`},
		{"unknown", `{"jsonrpc":"2.0","id":7,"method":"notify_weather","params":{"message_type":"WEATHER_REPORT","sender":"league_manager","sunny":true}}`, `"status":"ACKNOWLEDGED"`},
	}
	for _, test := range tests {
		got := r.post(test.body)
		if !strings.Contains(got, test.want) || strings.Contains(got, `"error"`) {
			t.Errorf("%s: %s\n is answered by %s, want %s", test.name, test.body, got, test.want)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":8,"method":"start_league","params":{"message_type":"START_LEAGUE","sender":"launcher","league_id":"x"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"notify_weather","params":{"sender":"league_manager"}}`,
	} {
		if got := r.post(body); !strings.Contains(got, `-32601`) {
			t.Errorf("%s\n is answered by %s, want a refusal", body, got)
		}
	}
	r.wants("start", "choose A1", "choose A2", "observe A1")
	if o := r.s.outcomes[0]; o.Result != game.Win || o.Number != 4 || o.OpponentChoice != game.NoParity && o.OpponentChoice != game.Odd {
		t.Errorf("told %+v", o)
	}
}

// TestStrict refuses the same things where the host is ours; more are in the suite of conformance.
func TestStrict(t *testing.T) {
	t.Parallel()
	r := running(t, nil)
	r.refused(r.over("R9M9"), 4003, protocol.CodeMatchNotFound)
	must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
	contradiction := r.over("R1M1")
	contradiction.GameResult.WinnerPlayerID = protocol.Some("P99")
	if _, err := r.send(contradiction); err == nil {
		t.Error("takes a winner who did not play")
	}
	start := &protocol.StartLeague{Header: r.fromManager(protocol.TypeStartLeague)}
	start.Sender = "launcher"
	if _, err := r.send(start); dialect.CodeOf(err) != protocol.CodeUnknownMessageType {
		t.Errorf("START_LEAGUE: %v", err)
	}
	r.wants("start")
}
