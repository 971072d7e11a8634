package manager_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// launch is START_LEAGUE.
func launch(token string) *protocol.StartLeague {
	h := protocol.NewHeader(protocol.TypeStartLeague, "launcher", protocol.Timestamp(time.Now()), "launch")
	h.LeagueID, h.AuthToken = "cup", token
	return &protocol.StartLeague{Header: h}
}

// overHTTP serves a manager over a socket and returns its URL.
func (r *rig) overHTTP() string {
	r.t.Helper()
	srv, err := jsonrpc.Listen(context.Background(), "127.0.0.1:0", jsonrpc.Config{Refuse: r.m.Endpoint().Refuse})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.t.Cleanup(stop)
	r.serving.Go(func() { srv.Serve(ctx, r.m.Endpoint()) })
	return srv.URL()
}

func TestWithoutAnAdminTokenOnlyThisMachineStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		header http.Header
		host   string
		code   protocol.Code // "" if it may
	}{
		{what: "a program on this machine"},
		{what: "a web page", header: http.Header{"Origin": {"https://evil.example"}}, code: protocol.CodeTokenMissing},
		{what: "a page without an origin", header: http.Header{"Origin": {"null"}}, code: protocol.CodeTokenMissing},
		{what: "by way of a proxy", header: http.Header{"X-Forwarded-For": {"203.0.113.7"}}, code: protocol.CodeTokenMissing},
		{what: "by way of another proxy", header: http.Header{"Forwarded": {"for=203.0.113.7"}}, code: protocol.CodeTokenMissing},
		{what: "by way of a third", header: http.Header{"Via": {"1.1 box"}}, code: protocol.CodeTokenMissing},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.referee("north")
			r.field(2)
			answer, err := post(t, r.overHTTP(), launch(""), c.header)
			if c.code != "" {
				wantRefusal(t, 11, c.code, answer, err)
				return
			}
			if err != nil || answer.(*protocol.LeagueStatus).Status != "running" {
				t.Errorf("the answer is %+v, %v", answer, err)
			}
		})
	}
}

// What net/http would not let a test send is given to the handler directly.
func TestWhichRequestsAreOfThisMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, remote, host, media string
		want                      bool
	}{
		{"IPv4", "127.0.0.1:4711", "127.0.0.1:8000", "application/json", true},
		{"IPv6", "[::1]:4711", "[::1]:8000", "application/json; charset=utf-8", true},
		{"a name", "127.0.0.1:4711", "localhost:8000", "application/json", true},
		{"a bare host", "127.0.0.1:4711", "localhost", "application/json", true},
		{"a rebound name", "127.0.0.1:4711", "evil.example:8000", "application/json", false},
		{"another machine", "192.168.7.20:4711", "localhost:8000", "application/json", false},
		{"a form", "127.0.0.1:4711", "localhost:8000", "text/plain", false},
		{"no media type", "127.0.0.1:4711", "localhost:8000", "", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.referee("north")
			r.field(2)
			call, err := dialect.Contracts.Call(launch(""))
			if err != nil {
				t.Fatal(err)
			}
			response := r.m.Endpoint().Handle(context.Background(), &jsonrpc.Request{
				Kind: jsonrpc.KindCall, Method: call.Method, Params: call.Params, ID: []byte("1"),
				Transport: jsonrpc.TransportHTTP, RemoteAddr: c.remote, Host: c.host, Header: http.Header{"Content-Type": {c.media}},
			})
			if started := response.Error == nil; started != c.want {
				t.Errorf("started: %v, want %v (%+v)", started, c.want, response.Error)
			}
		})
	}
}

func TestTheAdminToken(t *testing.T) {
	t.Parallel()
	const secret = "open-sesame"
	for _, c := range []struct {
		what, token, bearer string
		code                protocol.Code
		rpc                 int
	}{
		{what: "none", code: protocol.CodeTokenMissing, rpc: 11},
		{what: "wrong", token: "open", code: protocol.CodeTokenInvalid, rpc: 12},
		{what: "wrong bearer", bearer: "Bearer open", code: protocol.CodeTokenInvalid, rpc: 12},
		{what: "another scheme", bearer: "Basic " + secret, code: protocol.CodeTokenMissing, rpc: 11},
		{what: "in the message", token: secret},
		{what: "as bearer", bearer: "Bearer " + secret},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(cfg *manager.Config) { cfg.AdminToken = secret })
			r.referee("north")
			r.field(2)
			header := http.Header{"Origin": {"https://desk.example"}} // a token may come from anywhere
			if c.bearer != "" {
				header.Set("Authorization", c.bearer)
			}
			answer, err := post(t, r.overHTTP(), launch(c.token), header)
			if c.code != "" {
				wantRefusal(t, c.rpc, c.code, answer, err)
				return
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStartLeague(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	start := func() (*protocol.LeagueStatus, error) { return send[*protocol.LeagueStatus](r, launch("")) }
	answer, err := start()
	wantRefusal(t, 7, protocol.CodeInvalidState, answer, err)
	gate := make(chan struct{})
	referee := r.conductor("north", func(m protocol.AnnouncedMatch) protocol.MatchResult { <-gate; return fair(m) })
	r.player("ada")
	answer, err = start()
	wantRefusal(t, 7, protocol.CodeInvalidState, answer, err)
	r.player("ben")
	wrong := launch("")
	wrong.LeagueID = "another"
	answer, err = send[*protocol.LeagueStatus](r, wrong)
	wantRefusal(t, 43, protocol.CodeLeagueNotFound, answer, err)

	for _, what := range []string{"at first", "and again"} {
		answer, err := start()
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != "running" || answer.CurrentRound.Value() != 1 || answer.TotalRounds.Value() != 1 ||
			answer.MatchesCompleted.Value() != 0 || answer.LeagueID != "cup" {
			t.Errorf("%s: the status is %+v", what, answer)
		}
	}
	r.run()
	referee.announcements(1)
	close(gate)
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	answer, err = start()
	wantRefusal(t, 31, protocol.CodeLeagueAlreadyComplete, answer, err)
	if n := len(r.m.Results()); n != 1 {
		t.Errorf("%d results of one match", n)
	}
}

func TestTheLeagueWaitsForARefereeToStartByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 2 })
	r.run()
	players := r.field(2)
	if status := ask[protocol.StatusData](players[0], players[0].query(protocol.QueryStatus)); status.Status != "waiting" {
		t.Errorf("without a referee the league is %+v", status)
	}
	r.conductor("north", fair)
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
}

// A player cannot know the manager's token before it has read the answer to its
// registration; if an announcement overtakes that, it comes again.
func TestAnAnnouncementThatCameTooEarlyIsRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.referee("north")
	players := r.field(2)
	early := make(chan struct{}, 1)
	early <- struct{}{}
	players[1].on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		select {
		case <-early:
			return nil, protocol.Refuse(protocol.CodeTokenInvalid, in.Type, "I do not know you yet.")
		default:
			return nil, nil
		}
	})
	r.run()
	if err := r.m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	players[1].announcements(1)
}

func TestAgentsDoNotStartTheLeague(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee := r.referee("north")
	r.field(2)
	m := launch(referee.token)
	m.Sender = "referee:REF01"
	answer, err := referee.call(m)
	wantRefusal(t, 12, protocol.CodeTokenInvalid, answer, err)
}

func TestPlayersAreSeatedByTheirNumbers(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 3 })
	r.run()
	r.conductor("north", fair)
	for _, asked := range []string{"P30", "P04", "P111"} {
		p := r.agent(protocol.RolePlayer, "for-"+asked)
		m := p.application()
		m.Head().Sender = "player:" + asked
		answer, err := p.call(m)
		if err != nil {
			t.Fatal(err)
		}
		p.accepted(answer)
	}
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	seats := []string{"P04", "P30", "P111"}
	for _, m := range r.m.Results() {
		for i, seat := range m.Seats {
			if m.Players[i] != seats[seat] {
				t.Errorf("on seat %d sits %s, want %s", seat, m.Players[i], seats[seat])
			}
		}
	}
}

func TestABusyServerRefusesInTheLeaguesWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.m.Endpoint().Refuse(t.Context(), new(jsonrpc.Request), &jsonrpc.Refusal{Reason: jsonrpc.ReasonBusy, Status: 503, Code: 48, Detail: "busy"})
	if e == nil || e.Code != 48 || !strings.Contains(string(e.Data), `"error_code":"E048"`) || !strings.Contains(string(e.Data), "LEAGUE_ERROR") {
		t.Errorf("the refusal is %+v", e)
	}
}

// launching serves the manager's StartHandler over a socket.
func (r *rig) launching() string {
	srv := httptest.NewServer(r.m.StartHandler())
	r.t.Cleanup(srv.Close)
	return srv.URL + manager.StartPath
}

// launchBy posts to StartPath and returns the status and what is said.
func launchBy(t *testing.T, method, url, body string, header http.Header) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if h := header.Get("Host"); h != "" {
		req.Host = h
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(raw, &said); err != nil {
		t.Errorf("HTTP %d %s: %v", res.StatusCode, raw, err)
	}
	return res.StatusCode, said
}

// Who may start a league by START_LEAGUE may by POST /start_league, and nobody
// else, in strict mode as well.
func TestStartedByAPostToItsPath(t *testing.T) {
	t.Parallel()
	const secret = "open-sesame"
	asJSON := http.Header{"Content-Type": {"application/json"}}
	with := func(more ...string) http.Header {
		h := asJSON.Clone()
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	for _, c := range []struct {
		what, admin, body string
		header            http.Header
		status            int
		code              string
	}{
		{what: "a program on this machine", body: "{}", header: asJSON, status: 200},
		{what: "with the league", body: `{"league_id":"cup"}`, header: asJSON, status: 200},
		{what: "with a whole message", body: `{"protocol":"league.v2","message_type":"START_LEAGUE","sender":"launcher","timestamp":"2026-01-01T12:00:00Z","conversation_id":"c","league_id":"cup"}`, header: asJSON, status: 200},
		{what: "with another league", body: `{"league_id":"other"}`, header: asJSON, status: 404, code: "E043"},
		{what: "without a media type", body: "", header: http.Header{}, status: 401, code: "E011"},
		{what: "a form", body: "{}", header: http.Header{"Content-Type": {"text/plain"}}, status: 415},
		{what: "a web page", body: "{}", header: with("Origin", "https://evil.example"), status: 401, code: "E011"},
		{what: "by way of a proxy", body: "{}", header: with("X-Forwarded-For", "203.0.113.7"), status: 401, code: "E011"},
		{what: "under a rebound name", body: "{}", header: with("Host", "evil.example"), status: 401, code: "E011"},
		{what: "without the token", admin: secret, body: "{}", header: asJSON, status: 401, code: "E011"},
		{what: "with a wrong token", admin: secret, body: `{"auth_token":"open"}`, header: asJSON, status: 403, code: "E012"},
		{what: "with the token", admin: secret, body: `{"auth_token":"open-sesame"}`, header: asJSON, status: 200},
		{what: "with the token as bearer", admin: secret, body: `{}`, header: with("Authorization", "Bearer "+secret), status: 200},
		{what: "with a bearer and nothing else", admin: secret, header: http.Header{"Authorization": {"Bearer " + secret}}, status: 200},
		{what: "as a player", admin: secret, body: `{"sender":"player:P01","auth_token":"open-sesame"}`, header: asJSON, status: 403, code: "E012"},
		{what: "a list", body: "[]", header: asJSON, status: 400},
		{what: "a key twice", body: `{"league_id":"cup","league_id":"other"}`, header: asJSON, status: 400},
		{what: "another message", body: `{"message_type":"LEAGUE_QUERY"}`, header: asJSON, status: 400},
		{what: "a long body", body: `{"league_id":"` + strings.Repeat("x", 1<<17) + `"}`, header: asJSON, status: 413},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(cfg *manager.Config) { cfg.AdminToken = c.admin })
			r.referee("north")
			r.field(2)
			status, said := launchBy(t, http.MethodPost, r.launching(), c.body, c.header)
			if code, _ := said["error_code"].(string); status != c.status || code != c.code {
				t.Errorf("HTTP %d %v, want %d %s", status, said, c.status, c.code)
			}
			if status == 200 && (said["message_type"] != "LEAGUE_STATUS" || said["status"] != "running") {
				t.Errorf("started, and says %v", said)
			}
			if running := r.m.Start(context.Background()) == nil && len(r.startedEvents()) == 1; !running {
				t.Error("the league cannot be started any more")
			}
			if text, _ := json.Marshal(said); strings.Contains(string(text), secret) {
				t.Errorf("the answer shows the token: %s", text)
			}
		})
	}
}

func (r *rig) startedEvents() []manager.Event {
	var started []manager.Event
	for _, e := range r.events.all() {
		if e.Kind == manager.LeagueStarted {
			started = append(started, e)
		}
	}
	return started
}

// A league that cannot start says so by its status, and one that runs says how
// far it is.
func TestAPostToStartWhatCannotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	url, asJSON := r.launching(), http.Header{"Content-Type": {"application/json"}}
	if status, said := launchBy(t, http.MethodPost, url, "{}", asJSON); status != 409 || said["error_code"] != string(protocol.CodeInvalidState) {
		t.Errorf("without players: HTTP %d %v", status, said)
	}
	r.conductor("north", fair)
	r.field(2)
	for range 2 {
		if status, said := launchBy(t, http.MethodPost, url, "{}", asJSON); status != 200 || said["league_id"] != "cup" {
			t.Errorf("with players: HTTP %d %v", status, said)
		}
	}
	r.run()
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	if status, said := launchBy(t, http.MethodPost, url, "{}", asJSON); status != 409 || said["error_code"] != string(protocol.CodeLeagueAlreadyComplete) {
		t.Errorf("after the end: HTTP %d %v", status, said)
	}
	if status, said := launchBy(t, http.MethodGet, url, "", nil); status != 405 || said["detail"] == nil {
		t.Errorf("GET: HTTP %d %v", status, said)
	}
}
