package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

var errBoom = errors.New("boom")

// newMember returns a member whose manager is f.
func newMember(t *testing.T, role protocol.Role, cfg agent.Config, f func(*jsonrpc.Request) jsonrpc.Response) *agent.Member {
	t.Helper()
	cfg.Endpoint = "http://ada/mcp"
	cfg.Caller, cfg.Manager = caller(t, dialect.Contracts, f)
	m, err := agent.NewMember(role, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func nobody(*jsonrpc.Request) jsonrpc.Response { return unknown() }

func TestNewMemberValidatesItsConfig(t *testing.T) {
	t.Parallel()
	peer, by := wire.NewPeer("http://manager/mcp", dialect.Contracts), new(wire.Caller)
	for name, cfg := range map[string]agent.Config{
		"no endpoint":    {Manager: peer, Caller: by},
		"no manager":     {Endpoint: "http://ada/mcp", Caller: by},
		"no caller":      {Endpoint: "http://ada/mcp", Manager: peer},
		"an unusable id": {Endpoint: "http://ada/mcp", Manager: peer, Caller: by, ID: "a\x07"},
	} {
		if _, err := agent.NewMember(protocol.RolePlayer, cfg); err == nil || !strings.HasPrefix(err.Error(), "player: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	m, err := agent.NewMember(protocol.RoleReferee, agent.Config{Endpoint: "http://ada/mcp", Manager: peer, Caller: by})
	if err != nil {
		t.Fatal(err)
	}
	if m.Timeout != agent.DefaultTimeout || m.Backoff != game.LeagueBackoff() || m.Now == nil || m.Log == nil {
		t.Errorf("defaults %+v", m.Config)
	}
}

func TestTheAgentSignsWithTheBestNameItHas(t *testing.T) {
	t.Parallel()
	m := newMember(t, protocol.RolePlayer, agent.Config{Name: "Ada", ID: "P07"}, nobody)
	if got := m.Me.Sender(); got != "player:P07" {
		t.Errorf("signs as %s", got)
	}
	m.Me.Adopt("P01", "tok", "cup")
	if got := m.Me.Sender(); got != "player:P01" {
		t.Errorf("registered, it signs as %s", got)
	}
	m.Forget("P01")
	if got := m.Me.Sender(); got != "player:P01" || m.Me.ID() != "" || m.Me.Token() != "" {
		t.Errorf("after the league it signs as %s, with id %q", got, m.Me.ID())
	}
}

// TestAcknowledgementsNameTheAgent: by its role, and only where an acknowledgement is due.
func TestAcknowledgementsNameTheAgent(t *testing.T) {
	t.Parallel()
	over := &wire.Exchange{Request: &dialect.Request{Type: protocol.TypeRoundCompleted}}
	for role, want := range map[protocol.Role][2]string{protocol.RolePlayer: {"X01", ""}, protocol.RoleReferee: {"", "X01"}} {
		m := newMember(t, role, agent.Config{}, nobody)
		m.Me.Adopt("X01", "tok", "cup")
		ack := m.Ack(over).(*protocol.Ack)
		if got := [2]string{ack.PlayerID, ack.RefereeID}; got != want || ack.Status != protocol.StatusAcknowledged {
			t.Errorf("%s: %v, %s", role, got, ack.Status)
		}
		if got := m.Ack(&wire.Exchange{Request: &dialect.Request{Type: protocol.TypeChooseParityCall}}); got != nil {
			t.Errorf("a call for a choice is acknowledged by %v", got)
		}
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer  jsonrpc.Response
		players int
		fails   string
	}{
		"answered":        {jsonrpc.Response{Result: []byte(`{"message_type":"LEAGUE_QUERY_RESPONSE","query_type":"GET_PLAYERS","success":true,"data":{"players":[{"player_id":"P01"},{"player_id":"P02"}]}}`)}, 2, ""},
		"unknown":         {unknown(), 0, "query GET_PLAYERS: "},
		"another message": {jsonrpc.Response{Result: []byte(`{"message_type":"LEAGUE_STATUS","status":"running"}`)}, 0, "query GET_PLAYERS: "},
		"no data":         {jsonrpc.Response{Result: []byte(`{"message_type":"LEAGUE_QUERY_RESPONSE","query_type":"GET_PLAYERS","success":true}`)}, 0, "query GET_PLAYERS: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMember(t, protocol.RolePlayer, agent.Config{}, func(*jsonrpc.Request) jsonrpc.Response { return tt.answer })
			h := m.Me.Header(protocol.TypeLeagueQuery, "2026-01-01T12:00:00Z")
			data, err := agent.Query[protocol.PlayersData](t.Context(), m, h, protocol.QueryPlayers)
			if len(data.Players) != tt.players || (err == nil) != (tt.fails == "") || err != nil && !strings.HasPrefix(err.Error(), tt.fails) {
				t.Errorf("%d players, %v", len(data.Players), err)
			}
		})
	}
}

// TestRegister: a yes is believed wherever in the answer it stands, and a no; the agent
// registers once.
func TestRegister(t *testing.T) {
	t.Parallel()
	result := func(text string) string { return `{"jsonrpc":"2.0","id":"id-1","result":` + text + `}` }
	const taken = `"auth_token":"t","league_id":"cup"`
	yes := func(id string) dialect.Acceptance { return dialect.Acceptance{ID: id, Token: "t", League: "cup"} }
	for name, tt := range map[string]struct {
		role   protocol.Role
		mode   protocol.Mode
		answer string
		want   dialect.Acceptance
		fails  string
	}{
		"player":             {protocol.RolePlayer, protocol.Strict, result(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"ACCEPTED","player_id":"P07",` + taken + `}`), yes("P07"), ""},
		"referee":            {protocol.RoleReferee, protocol.Strict, result(`{"message_type":"REFEREE_REGISTER_RESPONSE","status":"ACCEPTED","referee_id":"REF02",` + taken + `}`), yes("REF02"), ""},
		"without an id":      {protocol.RoleReferee, protocol.Strict, result(`{"message_type":"REFEREE_REGISTER_RESPONSE","status":"ACCEPTED",` + taken + `}`), yes("Ada"), ""},
		"a bad id":           {protocol.RolePlayer, protocol.Strict, result(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"ACCEPTED","player_id":"../x",` + taken + `}`), dialect.Acceptance{}, "player id"},
		"a foreign id":       {protocol.RolePlayer, protocol.Tolerant, result(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"ACCEPTED","player_id":"../a: b",` + taken + `}`), yes("../a: b"), ""},
		"a tool's text":      {protocol.RolePlayer, protocol.Tolerant, result(`{"content":[{"type":"text","text":"{\"player_id\":\"P07\",\"auth_token\":\"t\",\"league_id\":\"cup\"}"}]}`), yes("P07"), ""},
		"an id in an object": {protocol.RolePlayer, protocol.Tolerant, result(`{"success":true,"data":{"league_id":"cup","player":{"id":7,"token":"t"}}}`), yes("7"), ""},
		"bare":               {protocol.RolePlayer, protocol.Tolerant, `{"status":"success","player_id":"P07","token":"t","league_id":"cup"}`, yes("P07"), ""},
		"a request":          {protocol.RolePlayer, protocol.Tolerant, `{"jsonrpc":"2.0","id":9,"method":"x","params":{"player_id":"P07",` + taken + `}}`, yes("P07"), ""},
		"refused":            {protocol.RolePlayer, protocol.Strict, result(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"REJECTED","reason":"League already started"}`), dialect.Acceptance{}, "League already started"},
		"refused, tolerant":  {protocol.RolePlayer, protocol.Tolerant, result(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"REJECTED","reason":"late"}`), dialect.Acceptance{}, "late"},
		"an error":           {protocol.RolePlayer, protocol.Tolerant, `{"jsonrpc":"2.0","id":"id-1","error":{"code":2001,"message":"League is full","data":{"error_code":"E020"}}}`, dialect.Acceptance{}, "E020"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, registered := 0, 0
			cfg := agent.Config{Name: "Ada", Mode: tt.mode, Registered: func() { registered++ }}
			m := newMember(t, tt.role, cfg, func(*jsonrpc.Request) jsonrpc.Response {
				calls++
				return jsonrpc.Response{Body: []byte(tt.answer)}
			})
			var got dialect.Acceptance
			err := m.Register(t.Context(), application(func(r dialect.Acceptance) error { got = r; return nil }))
			if got != tt.want || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("granted %+v, %v", got, err)
			}
			if rejected := errors.Is(err, agent.ErrRejected); rejected != strings.HasPrefix(name, "refused") {
				t.Errorf("rejected %v: %v", rejected, err)
			}
			if calls != 1 || (registered == 1) != (tt.fails == "") {
				t.Errorf("told of %d registrations after %d calls", registered, calls)
			}
		})
	}
}

// application hands on what is granted.
func application(granted func(dialect.Acceptance) error) agent.Application {
	return agent.Application{Granted: func(_ context.Context, r dialect.Acceptance) error { return granted(r) }}
}

// TestRegisterWaitsForTheManager: the same request is sent again until the
// manager is up, and the agent says once that it waits.
func TestRegisterWaitsForTheManager(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ids := make(map[string]int)
		tries, waiting := 0, 0
		m := newMember(t, protocol.RolePlayer, agent.Config{Name: "Ada"}, func(req *jsonrpc.Request) jsonrpc.Response {
			ids[string(req.ID)]++
			if tries++; tries < 6 {
				return jsonrpc.Response{Status: 503, Body: []byte("busy")}
			}
			return jsonrpc.Response{Result: []byte(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"ACCEPTED","player_id":"P07","auth_token":"t","league_id":"cup"}`)}
		})
		a := application(func(dialect.Acceptance) error { return nil })
		a.Waiting = func(error) { waiting++ }
		if err := m.Register(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if tries != 6 || waiting != 1 || len(ids) != 1 {
			t.Errorf("%d tries under %d ids, told %d times that it waits", tries, len(ids), waiting)
		}
	})
}

// TestGrantedEndsTheRegistration: what cannot be recorded is not tried again.
func TestGrantedEndsTheRegistration(t *testing.T) {
	t.Parallel()
	m := newMember(t, protocol.RolePlayer, agent.Config{Name: "Ada"}, func(*jsonrpc.Request) jsonrpc.Response {
		return jsonrpc.Response{Result: []byte(`{"message_type":"LEAGUE_REGISTER_RESPONSE","status":"ACCEPTED","player_id":"P07","auth_token":"t","league_id":"cup"}`)}
	})
	tries := 0
	err := m.Register(t.Context(), application(func(dialect.Acceptance) error { tries++; return errBoom }))
	if !errors.Is(err, errBoom) || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

// TestStay ends a stay for every reason that there is.
func TestStay(t *testing.T) {
	t.Parallel()
	quiet := agent.Stay{Register: func(context.Context) error { return nil }}
	for name, tt := range map[string]struct {
		idle time.Duration
		stay func(m *agent.Member, s *agent.Stay, cancel func())
		took time.Duration
		err  error
	}{
		"the context ends": {0, func(_ *agent.Member, _ *agent.Stay, cancel func()) {
			time.AfterFunc(time.Minute, cancel)
		}, time.Minute, nil},
		"the league is complete": {0, func(_ *agent.Member, s *agent.Stay, _ func()) {
			over := make(chan struct{})
			s.Over, s.Leave = over, func() (bool, error) { return true, errBoom }
			time.AfterFunc(time.Second, func() { close(over) })
		}, time.Second, errBoom},
		"it stays for the next league": {0, func(_ *agent.Member, s *agent.Stay, cancel func()) {
			over := make(chan struct{}, 1)
			over <- struct{}{}
			s.Over, s.Leave = over, func() (bool, error) { return false, nil }
			time.AfterFunc(time.Hour, cancel)
		}, time.Hour, nil},
		"the league has gone silent": {20 * time.Second, func(m *agent.Member, s *agent.Stay, _ func()) {
			s.Deserted = func() (bool, error) { return true, nil }
			time.AfterFunc(15*time.Second, m.Touch)
		}, 35 * time.Second, nil},
		"silence before the first match": {20 * time.Second, func(_ *agent.Member, s *agent.Stay, cancel func()) {
			s.Deserted = func() (bool, error) { return false, nil }
			time.AfterFunc(time.Hour, cancel)
		}, time.Hour, nil},
		"the manager turns it away": {0, func(m *agent.Member, s *agent.Stay, _ func()) {
			s.Register = func(context.Context) error { return errBoom }
			m.RequestRegistration()
			m.RequestRegistration()
		}, 0, errBoom},
		"it looks after the manager": {0, func(_ *agent.Member, s *agent.Stay, cancel func()) {
			looks := 0
			s.Every, s.Look = time.Minute, func(context.Context) {
				if looks++; looks == 3 {
					cancel()
				}
			}
		}, 3 * time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMember(t, protocol.RolePlayer, agent.Config{IdleExit: tt.idle}, nobody)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s, begun := quiet, time.Now()
				tt.stay(m, &s, cancel)
				if err := m.Stay(ctx, s); !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
				if took := time.Since(begun); took != tt.took {
					t.Errorf("stayed %v, want %v", took, tt.took)
				}
			})
		})
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	if got := agent.Brief(protocol.Refuse(protocol.CodeTimeout, "", "too late")); got != "too late" {
		t.Errorf("%q", got)
	}
	if got := agent.Brief(errors.New(strings.Repeat("x", 1000) + "\xff")); len(got) != 303 || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes", len(got))
	}
	if got := agent.Brief(errors.New("a\xffb")); got != "a?b" {
		t.Errorf("%q", got)
	}
}

// TestSilenceOfAPause: an agent stays in a league that its manager says rests, and leaves
// when that has gone silent for another reason.
func TestSilenceOfAPause(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status string
		stays  bool
	}{
		"paused":                {`"status":"running","paused":true,"pace_ms":0`, true},
		"a long pace":           {`"status":"running","paused":false,"pace_ms":20000`, true},
		"a short pace":          {`"status":"running","paused":false,"pace_ms":19999`, false},
		"a manager without one": {`"status":"running"`, false},
		"paused and over":       {`"status":"completed","paused":true`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32 // a question may be on its way when the time is up
				m := newMember(t, protocol.RolePlayer, agent.Config{IdleExit: 20 * time.Second}, func(*jsonrpc.Request) jsonrpc.Response {
					asked.Add(1)
					return jsonrpc.Response{Result: []byte(`{"message_type":"LEAGUE_QUERY_RESPONSE","query_type":"GET_STATUS","success":true,"data":{"league_id":"cup",` + tt.status + `}}`)}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begun := time.Now()
				err := m.Stay(ctx, agent.Stay{Deserted: func() (bool, error) { return true, nil }})
				n := asked.Load()
				if stayed := time.Since(begun) == time.Minute; err != nil || stayed != tt.stays || n == 0 || n > 3 {
					t.Errorf("it asked %d times and left after %v with the error %v", n, time.Since(begun), err)
				}
			})
		})
	}
}

// caller returns a caller to a handler on loopback, and the peer to call.
func caller(t *testing.T, d *dialect.Dialect, f func(req *jsonrpc.Request) jsonrpc.Response) (*wire.Caller, *wire.Peer) {
	client, url := jsonrpctest.Serve(t, f)
	return &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)}, wire.NewPeer(url, d)
}

func unknown() jsonrpc.Response {
	return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32601, Message: "Method not found"}}
}

// register registers Ada, a tolerant player, with a manager.
func register(ctx context.Context, c *wire.Caller, p *wire.Peer, change func(*agent.Config)) (granted dialect.Acceptance, err error) {
	cfg := agent.Config{Name: "Ada", Endpoint: "http://ada/mcp", Mode: protocol.Tolerant, Caller: c, Manager: p}
	if change != nil {
		change(&cfg)
	}
	m, err := agent.NewMember(protocol.RolePlayer, cfg)
	if err == nil {
		err = m.Register(ctx, application(func(r dialect.Acceptance) error { granted = r; return nil }))
	}
	return granted, err
}

// TestADoubtfulAttemptIsRepeated: an answer that did not come may have been a
// yes. The manager is asked, and where it does not tell, the same request is
// sent again under the same id, and none in other words.
func TestADoubtfulAttemptIsRepeated(t *testing.T) {
	t.Parallel()
	for _, tells := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) { repeatDoubtful(t, tells) })
	}
}

func repeatDoubtful(t *testing.T, tells bool) {
	var mu sync.Mutex // the handler of the first attempt may still be at it
	var heard []string
	silent := true
	c, p := caller(t, dialect.Contracts, func(req *jsonrpc.Request) jsonrpc.Response {
		mu.Lock()
		heard = append(heard, req.Method+" "+string(req.ID))
		first := silent && strings.HasPrefix(req.Method, "register")
		silent = silent && !first
		mu.Unlock()
		switch {
		case req.Method == "league_query" && tells:
			return jsonrpc.Response{Result: []byte(`{"data":{"players":[{"player_id":"P07","display_name":"Ada","contact_endpoint":"http://ada/mcp"}]}}`)}
		case req.Method == "league_query":
			return unknown()
		case first:
			time.Sleep(300 * time.Millisecond) // longer than the agent waits
		}
		return jsonrpc.Response{Result: []byte(`{"player_id":"P07","status":"ACCEPTED"}`)}
	})
	answer, err := register(t.Context(), c, p, func(cfg *agent.Config) { cfg.Timeout = 200 * time.Millisecond })
	if err != nil || answer.ID != "P07" {
		t.Fatalf("granted %+v, %v", answer, err)
	}
	mu.Lock()
	defer mu.Unlock()
	registrations := 0
	for _, h := range heard {
		if strings.HasPrefix(h, "register_player") {
			registrations++
			if h != heard[0] {
				t.Errorf("registered by %s, and at first by %s", h, heard[0])
			}
		} else if !strings.HasPrefix(h, "league_query") && !strings.Contains(strings.ToLower(h), "query") {
			t.Errorf("tried %s", h)
		}
	}
	if want := map[bool]int{true: 1, false: 2}[tells]; registrations != want {
		t.Errorf("told %v: %d registrations, want %d: %q", tells, registrations, want, heard)
	}
}
