package kit_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/jsonrpc"
)

// host is the manager with which the agent of a test registers, as its peers.
type host struct{ *kit.Registrar }

func (host) Play(*kit.T)  {}
func (host) Close() error { return nil }

// newHost listens as the manager of the agent of a session.
func newHost(t *testing.T, s *kit.Session, role kit.Role) host {
	t.Helper()
	s.Listen, s.Role = "127.0.0.1:0", role
	r, err := kit.NewRegistrar(t.Context(), s)
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

func registration(role kit.Role, sender, endpoint string) *kit.Message {
	typ := map[kit.Role]string{kit.Player: "LEAGUE_REGISTER_REQUEST", kit.Referee: "REFEREE_REGISTER_REQUEST"}[role]
	return kit.NewMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"id":"1","params":{"message_type":%q,"sender":%q,"%s_meta":{"contact_endpoint":%q}}}`,
		typ, typ, sender, role, endpoint), "", nil)
}

// The contact endpoint must accept messages, unless it is the address under test.
func TestContactEndpointAcceptsMessages(t *testing.T) {
	t.Parallel()
	answers := func(status int) func(*kit.Message) kit.Response {
		return func(*kit.Message) kit.Response { return kit.Response{Status: status, Body: []byte("{}")} }
	}
	agent := listen(t, answers(http.StatusNotFound))
	for status, want := range map[int]kit.Status{
		http.StatusOK: kit.Passed, http.StatusNotFound: kit.Failed, http.StatusMethodNotAllowed: kit.Failed,
	} {
		for endpoint, want := range map[string]kit.Status{agent.URL: kit.Passed, listen(t, answers(status)).URL: want} {
			s := session(t, agent.URL)
			peers := newHost(t, s, kit.Player)
			peers.Register(registration(kit.Player, "player:P07", endpoint))
			check := kit.Check{Run: kit.RegistrationTests(func(*kit.T) []string { return []string{"P07"} })["register.endpoint"]}
			if o := s.Run(t.Context(), peers, check, nil); o.Status != want {
				t.Errorf("HTTP %d at %s: %s, %s; want %s", status, endpoint, o.Status, o.Detail, want)
			}
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
		var tokens []string
		for range 2 {
			a := kit.ReadAnswer(jsonrpc.Reply{Status: http.StatusOK, Body: peers.Register(registration(c.role, c.sender, "http://127.0.0.1:1/mcp")).Body})
			if got := a.Message.Text(string(c.role) + "_id"); got != c.want || a.Message.Text("league_id") != kit.League || a.Message.Text("status") != "ACCEPTED" {
				t.Errorf("%s: assigned %q in %s, want %q", c.sender, got, a.Body, c.want)
			}
			tokens = append(tokens, a.Message.Text("auth_token"))
		}
		if tokens[0] == "" || tokens[0] != tokens[1] || tokens[0] != peers.Token {
			t.Errorf("%s: the tokens are %q, want the same", c.sender, tokens)
		}
	}
}
