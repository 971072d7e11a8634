package kit_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// host is the manager with which the agent of a test registers, as its peers.
type host struct{ *kit.Registrar }

func (host) Play(*kit.T) kit.Play { return kit.Played }
func (host) Close() error         { return nil }

// newHost listens as the manager of the agent of a session.
func newHost(t *testing.T, s *kit.Session, role kit.Role) host {
	t.Helper()
	s.Listen = "127.0.0.1:0"
	r, err := kit.NewRegistrar(t.Context(), s, role)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Endpoint.Close(); err != nil {
			t.Error(err)
		}
	})
	return host{r}
}

// registration returns a registration in which every rule is followed.
func registration(role kit.Role, endpoint string) string {
	request, sender, meta, more := "LEAGUE_REGISTER_REQUEST", "player:P07", "player_meta", ""
	if role == kit.Referee {
		request, sender, meta, more = "REFEREE_REGISTER_REQUEST", "referee:REF07", "referee_meta", `,"max_concurrent_matches":2`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"id":"1","params":{"protocol":"league.v2","message_type":%q,"sender":%q,`+
		`"timestamp":"2026-03-14T09:10:13Z","conversation_id":"c",%q:{"display_name":"Ada","version":"1.0.0","game_types":["even_odd"],"contact_endpoint":%q%s}}}`,
		strings.ToLower(request), request, sender, meta, endpoint, more)
}

// Each fault of a registration fails the check of its rule, and the checks that
// need that one are skipped; a registration without faults passes all of them.
func TestRegistrationRules(t *testing.T) {
	t.Parallel()
	agent := listen(t, func(*trace.Exchange, http.Header) kit.Response {
		return kit.Response{Status: http.StatusMethodNotAllowed}
	})
	for _, c := range []struct {
		role     kit.Role
		old, new string
		failed   string // the name of the check and its finding, or several
	}{
		{kit.Player, "", "", ""},
		{kit.Referee, "", "", ""},
		{kit.Player, `"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`, `rpc: jsonrpc is "1.0", want "2.0"`},
		{kit.Player, `"id":"1"`, `"id":null`, "rpc: id is null, want a string or a number"},
		{kit.Player, `"conversation_id":"c",`, "", "header: conversation_id is missing"},
		{kit.Player, `13Z`, "13", `timestamp: timestamp: `},
		{kit.Player, `"player:P07"`, `"referee:REF07"`, `sender: sender is "referee:REF07", want a player`},
		{kit.Referee, `"referee:REF07"`, `"league_manager"`, `sender: sender is "league_manager", want a referee`},
		{kit.Player, `"display_name":"Ada",`, "", "meta: player_meta.display_name is missing, want a string"},
		{kit.Player, `"Ada"`, "7", "meta: player_meta.display_name is 7, want a string"},
		{kit.Player, `"game_types":["even_odd"],`, "", `version: player_meta.game_types is missing, want a list that contains "even_odd"`},
		{kit.Player, `["even_odd"]`, `"even_odd"`, `version: player_meta.game_types is "even_odd", want a list that contains "even_odd"`},
		{kit.Player, `"version":"1.0.0",`, "", "version: player_meta.version is missing, want a string"},
		{kit.Referee, `["even_odd"]`, `["chess"]`, `games: referee_meta.game_types is ["chess"], want a list that contains "even_odd"`},
		{kit.Referee, `"max_concurrent_matches":2`, `"max_concurrent_matches":0`, "games: referee_meta.max_concurrent_matches is 0, want at least 1"},
		{kit.Referee, `"max_concurrent_matches":2`, `"max_concurrent_matches":"2"`, `games: referee_meta.max_concurrent_matches is "2", want at least 1`},
		{kit.Player, agent.URL, "/mcp", `endpoint: contact_endpoint is "/mcp", want an absolute URL such as http://127.0.0.1:8101/mcp`},
		{kit.Player, agent.URL, "http://127.0.0.1:1/mcp", "endpoint: no connection to the contact_endpoint http://127.0.0.1:1/mcp: "},
	} {
		s := session(t, agent.URL)
		peers := newHost(t, s, c.role)
		peers.Register(trace.ReadRequest([]byte(strings.Replace(registration(c.role, agent.URL), c.old, c.new, 1))))
		var failed []string
		var outcomes []kit.Outcome
		for _, check := range kit.RegistrationChecks(c.role, nil) {
			o := s.Run(t.Context(), peers, check, outcomes)
			outcomes = append(outcomes, o)
			if o.Status == kit.Failed {
				failed = append(failed, strings.TrimPrefix(o.ID, string(c.role)+".register.")+": "+o.Detail)
			}
			if o.Status == kit.Failed && (len(o.Evidence) != 1 || o.Evidence[0].From != "the "+string(c.role)+" to the manager") {
				t.Errorf("%s: the evidence is %+v, want the registration", o.ID, o.Evidence)
			}
		}
		if got := strings.Join(failed, "; "); !strings.HasPrefix(got, c.failed) || (got == "") != (c.failed == "") || len(failed) > 1 {
			t.Errorf("%s with %s: failed %q, want %q", c.role, c.new, got, c.failed)
		}
	}
}

// The contact endpoint must accept messages, unless it is the address under test.
func TestContactEndpointAcceptsMessages(t *testing.T) {
	t.Parallel()
	agent := listen(t, nil)
	other := listen(t, func(*trace.Exchange, http.Header) kit.Response { return kit.Response{Status: http.StatusNotFound} })
	for _, c := range []struct {
		endpoint string
		status   int
		want     kit.Status
	}{
		{agent.URL, http.StatusNotFound, kit.Passed}, // not asked
		{other.URL, http.StatusOK, kit.Passed},
		{other.URL, http.StatusNotFound, kit.Failed},
		{other.URL, http.StatusMethodNotAllowed, kit.Failed},
	} {
		s := session(t, agent.URL)
		peers := newHost(t, s, kit.Player)
		peers.Register(trace.ReadRequest([]byte(registration(kit.Player, c.endpoint))))
		checks, err := kit.Select(kit.RegistrationChecks(kit.Player, func(_ *kit.T, url string) *kit.Answer {
			if url != c.endpoint {
				t.Errorf("the message goes to %s, want %s", url, c.endpoint)
			}
			return kit.ReadAnswer(kit.Reply{Status: c.status, Body: []byte("{}")})
		}), []string{"player.register.endpoint"})
		if err != nil {
			t.Fatal(err)
		}
		if o := s.Run(t.Context(), peers, checks[0], nil); o.Status != c.want {
			t.Errorf("HTTP %d at %s: %s, %s; want %s", c.status, c.endpoint, o.Status, o.Detail, c.want)
		}
	}
}

// A manager that plays busy refuses the first registration: an agent that tries
// again passes, one that does not fails.
func TestRegistrationIsRetried(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]kit.Outcome{
		1: {Status: kit.Failed, Detail: "after HTTP 503 with Retry-After: 1 it did not register again within 1m0s"},
		2: {Status: kit.Passed, Detail: "it tried again after 1.5s"},
	} {
		s := session(t, "http://127.0.0.1:1/mcp")
		s.Busy = true
		peers := newHost(t, s, kit.Player)
		for n := range attempts {
			in := trace.ReadRequest([]byte(registration(kit.Player, "http://127.0.0.1:1/mcp")))
			in.At = time.Unix(0, 0).Add(time.Duration(n) * 1500 * time.Millisecond)
			if r := peers.Register(in); (r.Status == http.StatusServiceUnavailable) != (n == 0) || (r.Header.Get("Retry-After") == "1") != (n == 0) {
				t.Errorf("attempt %d is answered with HTTP %d, %v", n+1, r.Status, r.Header)
			}
		}
		if peers.Registered() != (attempts == 2) || len(peers.Attempts()) != attempts {
			t.Errorf("registered %t after %d attempts", peers.Registered(), attempts)
		}
		checks, err := kit.Select(kit.RegistrationChecks(kit.Player, nil), []string{"player.register.retry"})
		if err != nil {
			t.Fatal(err)
		}
		if o := s.Run(t.Context(), peers, checks[0], nil); o.Status != want.Status || o.Detail != want.Detail {
			t.Errorf("%d attempts: %s, %s; want %s, %s", attempts, o.Status, o.Detail, want.Status, want.Detail)
		}
	}
}

// An agent is given the id that it asks for in its sender, else the first of its
// role, and keeps id and token when it registers again.
func TestRegistrationAssignsAnID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role              kit.Role
		sender, own, want string
	}{
		{kit.Player, "player:P07", "", "P07"},
		{kit.Player, "player:alice", "", "P01"},
		{kit.Player, "player:P07", "P03", "P03"},
		{kit.Referee, "referee:REF12", "", "REF12"},
		{kit.Referee, "referee:P07", "", "REF01"},
	} {
		s := session(t, "http://127.0.0.1:1/mcp")
		s.ID = c.own
		peers := newHost(t, s, c.role)
		body := []byte(registration(c.role, "http://127.0.0.1:1/mcp"))
		body = kit.EditMessage(body, kit.Set("sender", c.sender))
		var tokens []string
		for range 2 {
			a := kit.ReadAnswer(kit.Reply{Status: http.StatusOK, Body: peers.Register(trace.ReadRequest(body)).Body})
			if got := a.Message.Text(string(c.role) + "_id"); got != c.want || a.Message.Text("league_id") != kit.League || a.Message.Text("status") != "ACCEPTED" {
				t.Errorf("%s: assigned %q in %s, want %q", c.sender, got, a.Body, c.want)
			}
			tokens = append(tokens, a.Message.Text("auth_token"))
		}
		if tokens[0] == "" || tokens[0] != tokens[1] || tokens[0] != peers.Token {
			t.Errorf("%s: the tokens are %q, want the same", c.sender, tokens)
		}
		if agent, way := peers.Describe(); agent != "Ada" || way != "lower-method" {
			t.Errorf("the agent is %q in %s, want Ada in lower-method", agent, way)
		}
		h := peers.Header(protocol.TypeRoundCompleted, 3)
		if h.Sender != kit.ManagerName || h.AuthToken == "" || h.RoundID != protocol.RoundNumber(3) {
			t.Errorf("a message of the manager has the header %+v", h)
		}
	}
}

// Registering twice fails unless the suite provoked it; an agent that never
// registered is told how to start.
func TestRegisteredOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times, renewals int
		want            kit.Status
		detail          string
	}{
		{0, 0, kit.Skipped, "the player is not registered with this manager: start it with the manager "},
		{1, 0, kit.Passed, ""},
		{2, 1, kit.Passed, ""},
		{2, 0, kit.Failed, "it registered twice and was accepted each time"},
		{3, 1, kit.Failed, "it registered 3 times and was accepted each time"},
	} {
		s := session(t, "http://127.0.0.1:1/mcp")
		peers := newHost(t, s, kit.Player)
		peers.Renewals = c.renewals
		for range c.times {
			peers.Register(trace.ReadRequest([]byte(registration(kit.Player, s.URL))))
		}
		o := s.Run(t.Context(), peers, kit.EndChecks(kit.Player, nil)[0], nil)
		if o.Status != c.want || !strings.HasPrefix(o.Detail, c.detail) {
			t.Errorf("%d times: %s, %q; want %s, %q", c.times, o.Status, o.Detail, c.want, c.detail)
		}
	}
}

// The end of a league must be acknowledged by its own answer, before the agent
// leaves; it may then stay or leave.
func TestEndOfLeague(t *testing.T) {
	t.Parallel()
	for answered, want := range map[string][]kit.Status{
		"LEAGUE_COMPLETED_ACK": {kit.Passed, kit.Passed},
		"ROUND_COMPLETED_ACK":  {kit.Failed, kit.Skipped},
		"":                     {kit.Passed, kit.Passed},
	} {
		agent := listen(t, func(in *trace.Exchange, _ http.Header) kit.Response {
			if len(in.Raw) == 0 {
				return kit.Response{Status: http.StatusMethodNotAllowed} // whether it listens
			}
			if m := kit.Object(in.Raw).Inner(); m.Object("champion").Text("player_id") != "P02" || len(m.List("final_standings")) != 2 {
				t.Errorf("the end of the league is %s", in.Raw)
			}
			return kit.Respond(in.Raw, nil).Edit(kit.Set("message_type", answered))
		})
		s := session(t, agent.URL)
		peers := newHost(t, s, kit.Player)
		peers.Register(trace.ReadRequest([]byte(registration(kit.Player, agent.URL))))
		var outcomes []kit.Outcome
		for _, check := range kit.EndChecks(kit.Player, func(*kit.T) []string { return []string{"P02", "P01"} })[1:] {
			outcomes = append(outcomes, s.Run(t.Context(), peers, check, outcomes))
		}
		if got := []kit.Status{outcomes[0].Status, outcomes[1].Status}; !slices.Equal(got, want) {
			t.Errorf("answered by %q: %v (%s), want %v", answered, got, outcomes[0].Detail, want)
		}
	}
}

// Await gives an agent all of its time to register: one that listens only is
// admitted then, and one that does not listen is reported.
func TestAwaitRegistration(t *testing.T) {
	t.Parallel()
	agent := listen(t, nil)
	for url, want := range map[string]string{agent.URL: "", "http://127.0.0.1:1/mcp": "no agent is listening at http://127.0.0.1:1/mcp (waited 1m0s): "} {
		s := session(t, url)
		var said []string
		s.Say = func(text string) { said = append(said, text) }
		peers := newHost(t, s, kit.Player)
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err := peers.Await(t.Context())
			if took := time.Since(began); took != s.Wait {
				t.Errorf("waited %v, want %v", took, s.Wait)
			}
			var unreachable *kit.UnreachableError
			if (err == nil) != (want == "") || err != nil && (!errors.As(err, &unreachable) || errors.Unwrap(err) == nil || !strings.HasPrefix(err.Error(), want)) {
				t.Errorf("%s: error %v, want %q", url, err, want)
			}
		})
		if want == "" && (peers.ID != "P01" || peers.Token == "" || peers.Registered() || len(said) != 2 || !strings.Contains(said[1], "the player has not registered")) {
			t.Errorf("admitted as %q, registered %t; said %q", peers.ID, peers.Registered(), said)
		}
	}
}
