package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// launched returns what serves the startPath of a manager, and has a referee and two players
// registered if they are to play.
func launched(t *testing.T, cfg manager.Config, play bool) (m *manager.Manager, h http.Handler) {
	t.Helper()
	net := new(jsonrpc.Loopback)
	cfg.LeagueID, cfg.Probe = "cup", manager.ProbeOff
	cfg.Caller = &wire.Caller{Client: jsonrpc.NewClient(net.From("manager"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
	m, err := manager.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	for i, kind := range []string{"referee", "player", "player"} {
		if !play {
			break
		}
		params := fmt.Sprintf(`{"protocol":"league.v2","message_type":"%s_REGISTER_REQUEST","sender":"%s:a%d","timestamp":"2026-01-01T12:00:00Z","conversation_id":"c",
			"%s_meta":{"display_name":"a%d","version":"1","game_types":["even_odd"],"contact_endpoint":"http://127.0.0.1:%d/mcp","max_concurrent_matches":1}}`,
			map[string]string{"referee": "REFEREE", "player": "LEAGUE"}[kind], kind, i, kind, i, 9000+i)
		answer := m.Dispatcher().Handle(t.Context(), &jsonrpc.Request{Kind: jsonrpc.KindCall, Method: "register_" + kind, Params: jsontext.Value(params), ID: jsontext.Value("1")})
		if answer.Error != nil {
			t.Fatal(answer.Error)
		}
	}
	return m, launching(m.Launcher())
}

// launchBy posts to StartPath from this machine, and returns the status and what is said.
func launchBy(t *testing.T, h http.Handler, method, body string, header http.Header) (int, map[string]any) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+startPath, strings.NewReader(body))
	req.RemoteAddr, req.Host = "127.0.0.1:4711", cmp.Or(header.Get("Host"), req.Host)
	maps.Copy(req.Header, header)
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, req)
	var said map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil {
		t.Errorf("HTTP %d %s: %v", answer.Code, answer.Body, err)
	}
	return answer.Code, said
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
			m, h := launched(t, manager.Config{AdminToken: c.admin}, true)
			status, said := launchBy(t, h, http.MethodPost, c.body, c.header)
			if code, _ := said["error_code"].(string); status != c.status || code != c.code {
				t.Errorf("HTTP %d %v, want %d %s", status, said, c.status, c.code)
			}
			if status == 200 && (said["message_type"] != "LEAGUE_STATUS" || said["status"] != "running") {
				t.Errorf("started, and says %v", said)
			}
			if started := m.Snapshot().Round == 1; started != (status == 200) {
				t.Errorf("HTTP %d, and the league has started: %v", status, started)
			}
			if text, _ := json.Marshal(said); strings.Contains(string(text), secret) {
				t.Errorf("the answer shows the token: %s", text)
			}
		})
	}
}

// A league that cannot start says so by its status, and one that runs says how
// far it is.
func TestAPostToStartWhatCannotStart(t *testing.T) {
	t.Parallel()
	asJSON := http.Header{"Content-Type": {"application/json"}}
	_, empty := launched(t, manager.Config{}, false)
	if status, said := launchBy(t, empty, http.MethodPost, "{}", asJSON); status != 409 || said["error_code"] != string(protocol.CodeInvalidState) {
		t.Errorf("without players: HTTP %d %v", status, said)
	}
	if status, said := launchBy(t, empty, http.MethodGet, "", nil); status != 405 || said["detail"] == nil {
		t.Errorf("GET: HTTP %d %v", status, said)
	}
	_, ready := launched(t, manager.Config{}, true)
	for range 2 {
		if status, said := launchBy(t, ready, http.MethodPost, "{}", asJSON); status != 200 || said["league_id"] != "cup" {
			t.Errorf("with players: HTTP %d %v", status, said)
		}
	}
	dir := t.TempDir()
	played, err := os.ReadFile("manager/league/testdata/manager.journal")
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteFile(manager.JournalName(dir, "cup"), played, 0o600); err != nil {
		t.Fatal(err)
	}
	_, over := launched(t, manager.Config{DataDir: dir}, false)
	if status, said := launchBy(t, over, http.MethodPost, "{}", asJSON); status != 409 || said["error_code"] != string(protocol.CodeLeagueAlreadyComplete) {
		t.Errorf("after the end: HTTP %d %v", status, said)
	}
}
