package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// signup is a player's registration, with whatever a test changes of it.
func (r *rig) signup(name string, change func(*protocol.LeagueRegisterRequest)) (*protocol.LeagueRegisterResponse, error) {
	h := protocol.NewHeader(protocol.TypeLeagueRegisterRequest, "player:"+name, protocol.Timestamp(time.Now()), "signup-"+name)
	m := &protocol.LeagueRegisterRequest{Header: h, Meta: protocol.PlayerMeta{
		DisplayName: name, Version: "1.0.0", GameTypes: []string{"even_odd"}, ContactEndpoint: "http://" + name + "/mcp",
	}}
	if change != nil {
		change(m)
	}
	return send[*protocol.LeagueRegisterResponse](r, m)
}

func (r *rig) signupReferee(name string, change func(*protocol.RefereeRegisterRequest)) (*protocol.RefereeRegisterResponse, error) {
	h := protocol.NewHeader(protocol.TypeRefereeRegisterRequest, "referee:"+name, protocol.Timestamp(time.Now()), "signup-"+name)
	m := &protocol.RefereeRegisterRequest{Header: h, Meta: protocol.RefereeMeta{
		DisplayName: name, Version: "1.0.0", GameTypes: []string{"even_odd"}, ContactEndpoint: "http://" + name + "/mcp", MaxConcurrentMatches: protocol.Some(3),
	}}
	if change != nil {
		change(m)
	}
	return send[*protocol.RefereeRegisterResponse](r, m)
}

// send sends a message to the manager as somebody at a stranger's address.
func send[A protocol.Message](r *rig, m protocol.Message) (A, error) {
	r.t.Helper()
	answer, err := r.caller("stranger").Call(context.Background(), wire.NewPeer(r.url, protocol.Contracts), m)
	if err != nil {
		var none A
		return none, err
	}
	a, ok := answer.(A)
	if !ok {
		r.t.Fatalf("the answer is a %T", answer)
	}
	return a, nil
}

func (r *rig) caller(from string) *wire.Caller {
	return &wire.Caller{
		Client: jsonrpc.NewClient(r.from(from), jsonrpc.ClientConfig{}), Codec: protocol.NewCodec(protocol.Strict),
	}
}

// must fails the test unless a registration was accepted.
func must[A any](t testing.TB, answer A, err error) A {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestIdsAndTokens(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	type given struct{ asked, want string }
	tokens := make(map[string]bool)
	for i, c := range []given{
		{"ada", "P01"},
		{"P07", "P07"},             // free, honoured
		{"P07", "P02"},             // taken
		{"P007", "P03"},            // the same number
		{"P8", "P04"},              // too short
		{"REF05", "P05"},           // another role's
		{"P99999999999999", "P06"}, // no number
		{"P123", "P123"},
		{"bo", "P08"}, // 7 is taken
	} {
		answer := must2(t)(r.signup(fmt.Sprintf("player-%d", i), func(m *protocol.LeagueRegisterRequest) { m.Sender = "player:" + c.asked }))
		if answer.PlayerID != c.want {
			t.Errorf("%q got the id %s, want %s", c.asked, answer.PlayerID, c.want)
		}
		if answer.Status != "ACCEPTED" || answer.LeagueID != "cup" || !answer.Reason.IsNull() {
			t.Errorf("the answer is %+v", answer)
		}
		random, ok := strings.CutPrefix(answer.AuthToken, "tok-"+answer.PlayerID+"-")
		if !ok || len(random) < 32 || tokens[random] {
			t.Errorf("the token of %s is %s", answer.PlayerID, answer.AuthToken)
		}
		tokens[random] = true
	}
	for _, c := range []given{{"alpha", "REF01"}, {"REF09", "REF09"}, {"P01", "REF02"}} {
		answer, err := r.signupReferee("referee-"+c.asked, func(m *protocol.RefereeRegisterRequest) { m.Sender = "referee:" + c.asked })
		if must(t, answer, err).RefereeID != c.want {
			t.Errorf("%q got the id %s, want %s", c.asked, answer.RefereeID, c.want)
		}
	}
}

// must2 is must for calls that return two values.
func must2(t testing.TB) func(*protocol.LeagueRegisterResponse, error) *protocol.LeagueRegisterResponse {
	return func(answer *protocol.LeagueRegisterResponse, err error) *protocol.LeagueRegisterResponse {
		t.Helper()
		return must(t, answer, err)
	}
}

func TestTokensComeFromTheGivenSource(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) {
		c.Random = strings.NewReader(strings.Repeat("\xab", 20) + strings.Repeat("\xcd", 20))
	})
	want := "tok-P01-" + strings.Repeat("ab", 20)
	if answer := must2(t)(r.signup("ada", nil)); answer.AuthToken != want {
		t.Errorf("the token is %s, want %s", answer.AuthToken, want)
	}
	must2(t)(r.signup("ben", nil))
	answer, err := r.signup("cleo", nil) // the source has run dry
	wantRefusal(t, -32603, protocol.CodeInternalError, answer, err)
	if n := len(r.m.Standings()); n != 2 {
		t.Errorf("%d players are registered, want 2", n)
	}
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) {
		c.MaxPlayers, c.MaxReferees, c.AllowHosts = 3, 1, []string{"*.school.example", "10.1.0.0/16", "ada"}
	})
	must2(t)(r.signup("ada", nil))
	for _, c := range []struct {
		what   string
		change func(*protocol.LeagueRegisterRequest)
		rpc    int
		code   protocol.Code
	}{
		{"the same name", func(m *protocol.LeagueRegisterRequest) {
			m.Meta.DisplayName, m.Meta.ContactEndpoint = " ada ", "http://127.0.0.1:1/mcp"
		}, 2002, protocol.CodeDuplicateName},
		{"the same endpoint", func(m *protocol.LeagueRegisterRequest) {
			m.Meta.DisplayName, m.Meta.ContactEndpoint = "eve", "http://ada/mcp"
		}, 2003, protocol.CodeInvalidEndpoint},
		{"another game", func(m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} }, 2004, protocol.CodeUnsupportedGameType},
		{"no URL", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://[" }, 2003, protocol.CodeInvalidEndpoint},
		{"no scheme", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "localhost:81/mcp" }, 2003, protocol.CodeInvalidEndpoint},
		{"another scheme", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "file:///etc/passwd" }, 2003, protocol.CodeInvalidEndpoint},
		{"no host", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http:///mcp" }, 2003, protocol.CodeInvalidEndpoint},
		{"no path", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://127.0.0.1:81" }, 2003, protocol.CodeInvalidEndpoint},
		{"a user", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://a:b@127.0.0.1/mcp" }, 2003, protocol.CodeInvalidEndpoint},
		{"a long URL", func(m *protocol.LeagueRegisterRequest) {
			m.Meta.ContactEndpoint = "http://127.0.0.1/" + strings.Repeat("x", 3000)
		}, 2003, protocol.CodeInvalidEndpoint},
		{"no name", func(m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = " " }, -32602, protocol.CodeInvalidFieldType},
		{"a long name", func(m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = strings.Repeat("é", 101) }, -32602, protocol.CodeInvalidFieldType},
		{"a name that moves the cursor", func(m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = "eve\x1b[2J" }, -32602, protocol.CodeInvalidFieldType},
		{"a long version", func(m *protocol.LeagueRegisterRequest) { m.Meta.Version = strings.Repeat("1", 101) }, -32602, protocol.CodeInvalidFieldType},
		{"many games", func(m *protocol.LeagueRegisterRequest) {
			m.Meta.GameTypes = strings.Split(strings.Repeat("even_odd,", 40), ",")
		}, -32602, protocol.CodeInvalidFieldType},
		{"a referee's sender", func(m *protocol.LeagueRegisterRequest) { m.Sender = "referee:eve" }, -32602, protocol.CodeInvalidFieldType},
	} {
		answer, err := r.signup("eve", c.change)
		t.Run(c.what, func(t *testing.T) { wantRefusal(t, c.rpc, c.code, answer, err) })
	}
	must2(t)(r.signup("ben", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://10.1.2.3:9/mcp" }))
	must2(t)(r.signup("cleo", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "https://pc7.school.example/a/b?c=d" }))
	answer, err := r.signup("dan", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://localhost/mcp" })
	full := wantRefusal(t, 2001, protocol.CodeLeagueFull, answer, err)
	wantData(t, full, map[string]any{"max_players": 3.0, "current_players": 3.0})
	must(t, struct{}{}, second(r.signupReferee("ada", nil)))
	referee, err := r.signupReferee("rex", func(m *protocol.RefereeRegisterRequest) { m.Meta.ContactEndpoint = "http://[::1]:8/mcp" })
	full = wantRefusal(t, 1001, protocol.CodeLeagueFull, referee, err)
	wantData(t, full, map[string]any{"max_referees": 1.0, "current_referees": 1.0})
	referee, err = r.signupReferee("rex", func(m *protocol.RefereeRegisterRequest) { m.Meta.GameTypes = []string{"go"} })
	wantRefusal(t, 1003, protocol.CodeUnsupportedGameType, referee, err)
	referee, err = r.signupReferee("rex", func(m *protocol.RefereeRegisterRequest) { m.Meta.ContactEndpoint = "ftp://127.0.0.1/mcp" })
	wantRefusal(t, 1002, protocol.CodeInvalidEndpoint, referee, err)
	if n := len(r.m.Standings()); n != 3 {
		t.Errorf("%d players are registered, want 3", n)
	}
}

func second[A any](_ A, err error) error { return err }

// wantData fails unless the data of a refusal has the members, both at the top
// level and in the context.
func wantData(t testing.TB, r *protocol.Refusal, want map[string]any) {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal(r.Data, &data); err != nil {
		t.Fatal(err)
	}
	inner, _ := data["context"].(map[string]any)
	for name, value := range want {
		if fmt.Sprint(data[name]) != fmt.Sprint(value) || fmt.Sprint(inner[name]) != fmt.Sprint(value) {
			t.Errorf("%s is %v, and %v in the context, want %v", name, data[name], inner[name], value)
		}
	}
	if data["message_type"] != "LEAGUE_ERROR" || data["sender"] != "league_manager" {
		t.Errorf("the data is no LEAGUE_ERROR of the manager: %s", r.Data)
	}
}

func TestASuggestionForATakenNameIsFree(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	must2(t)(r.signup("ada", nil))
	elsewhere := func(name string) func(*protocol.LeagueRegisterRequest) {
		return func(m *protocol.LeagueRegisterRequest) {
			m.Meta.DisplayName = name
		}
	}
	answer, err := r.signup("x1", elsewhere("ada"))
	wantData(t, wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err), map[string]any{"display_name": "ada", "suggestion": "ada 2"})
	must2(t)(r.signup("x2", elsewhere("ada 2")))
	answer, err = r.signup("x3", elsewhere("ada"))
	wantData(t, wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err), map[string]any{"suggestion": "ada 3"})
	for _, name := range []string{"north", "south"} { // nobody mistakes referees
		must(t, struct{}{}, second(r.signupReferee(name, func(m *protocol.RefereeRegisterRequest) { m.Meta.DisplayName = "ref" })))
	}
}

func TestHostsThatMayBeCalled(t *testing.T) {
	t.Parallel()
	patterns := []string{"*.school.example", "192.168.7.*", "10.1.0.0/16", "fd00::/8", "Lab-PC"}
	for _, c := range []struct {
		host string
		want bool
	}{
		{"localhost", true}, {"LOCALHOST", true}, {"127.0.0.1", true}, {"127.8.9.1", true}, {"[::1]", true}, {"[::ffff:127.0.0.1]", true},
		{"0.0.0.0", false}, {"2130706433", false}, {"127.1", false}, {"localhost.evil.example", false}, {"evil.example", false},
		{"169.254.169.254", false}, {"a.school.example", true}, {"school.example", false}, {"192.168.7.20", true}, {"192.168.8.20", false},
		{"10.1.255.255", true}, {"10.2.0.1", false}, {"[fd00::7]", true}, {"[fe80::7]", false}, {"lab-pc", true},
	} {
		t.Run(c.host, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *manager.Config) { c.AllowHosts = patterns })
			answer, err := r.signup("ada", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://" + c.host + ":8101/mcp" })
			if err != nil {
				t.Fatal(err)
			}
			if c.want != (answer.Status == protocol.StatusAccepted) {
				t.Errorf("the status is %s, want accepted: %v", answer.Status, c.want)
			}
			if !c.want {
				wantRejected(t, answer)
			}
		})
	}
}

// wantRejected fails unless a registration was turned away with a reason and
// neither id, token nor league.
func wantRejected(t testing.TB, answer *protocol.LeagueRegisterResponse) {
	t.Helper()
	if answer.Status != "REJECTED" || answer.Reason.Value() == "" || answer.PlayerID != "" || answer.AuthToken != "" || answer.LeagueID != "" {
		t.Errorf("the answer is %+v, want one of status REJECTED with a reason only", answer)
	}
}

func TestLateRegistrations(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 2 })
	r.run()
	gate := make(chan struct{})
	north := r.conductor("north", func(m protocol.AnnouncedMatch) protocol.MatchResult { <-gate; return fair(m) })
	players := r.field(2)
	players[0].announcements(1)
	answer := must2(t)(r.signup("late", func(m *protocol.LeagueRegisterRequest) { m.LeagueID = "cup" }))
	wantRejected(t, answer)
	late := must(t, r.referee("south"), nil) // a referee is welcome at any time
	if late.id != "REF02" {
		t.Errorf("the late referee is %s", late.id)
	}
	close(gate)
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	wantRejected(t, must2(t)(r.signup("later", nil)))
	if a, err := r.signupReferee("east", nil); err != nil || a.Status != "REJECTED" || a.RefereeID != "" || a.AuthToken != "" {
		t.Errorf("after the end a referee got %+v, %v", a, err)
	}
	if n := len(north.inbox.all()); n != 4 {
		t.Errorf("the referee was sent %d messages, want 4", n)
	}
}

// raw sends a registration under a JSON-RPC id, as a client does that repeats
// itself.
func (r *rig) raw(from, id string, m protocol.Message) (protocol.Message, error) {
	r.t.Helper()
	call, err := protocol.Contracts.Call(m)
	if err != nil {
		r.t.Fatal(err)
	}
	client := r.caller(from).Client
	got, err := client.Call(context.Background(), r.url, jsonrpc.Message{Method: call.Method, Params: call.Params, ID: jsontext.Value(`"` + id + `"`)})
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := protocol.ParseAnswer(got.Status, got.Raw)
	if err != nil {
		r.t.Fatal(err)
	}
	return protocol.NewCodec(protocol.Strict).ReadAnswer(m.Head().MessageType, answer)
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestARepeatIsFoldedOnlyWhenItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	application := func(name, conversation string) *protocol.LeagueRegisterRequest {
		h := protocol.NewHeader(protocol.TypeLeagueRegisterRequest, "player:"+name, protocol.Timestamp(time.Now()), conversation)
		return &protocol.LeagueRegisterRequest{Header: h, Meta: protocol.PlayerMeta{
			DisplayName: name, Version: "1", GameTypes: []string{"even_odd"}, ContactEndpoint: "http://" + name + "/mcp",
		}}
	}
	now := &clock{now: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)}
	r := newRig(t, func(c *manager.Config) { c.Now = now.time })
	first, err := r.raw("desk-1:5001", "id-1", application("ada", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	a := first.(*protocol.LeagueRegisterResponse)

	now.advance(59 * time.Second)
	again, err := r.raw("desk-1:5002", "id-1", application("ada", "c1")) // a new connection
	if err != nil {
		t.Fatal(err)
	}
	b := again.(*protocol.LeagueRegisterResponse)
	if b.PlayerID != a.PlayerID || b.AuthToken == a.AuthToken || b.AuthToken == "" {
		t.Errorf("the repeat got %s with token %s; the first was %s with %s", b.PlayerID, b.AuthToken, a.PlayerID, a.AuthToken)
	}
	stale := &scripted{r: r, role: protocol.RolePlayer, id: a.PlayerID, name: "ada", token: a.AuthToken, dialct: protocol.Contracts, calls: r.caller("desk-1")}
	answer, err := stale.call(stale.query(protocol.QueryStatus))
	wantRefusal(t, 6001, protocol.CodeTokenInvalid, answer, err)
	stale.token = b.AuthToken
	if _, err := stale.call(stale.query(protocol.QueryStatus)); err != nil {
		t.Errorf("the fresh token is refused: %v", err)
	}

	other := application("ada", "c1")
	other.Meta.Version = "2"
	for what, repeat := range map[string]func() (protocol.Message, error){
		"another JSON-RPC id":  func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-2", application("ada", "c1")) },
		"another conversation": func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-1", application("ada", "c2")) },
		"another address":      func() (protocol.Message, error) { return r.raw("desk-2:5001", "id-1", application("ada", "c1")) },
		"another meta":         func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-1", other) },
	} {
		answer, err := repeat()
		t.Run(what, func(t *testing.T) { wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err) })
	}
	now.advance(2 * time.Second) // 61 s after the first, 2 s after the repeat
	answer, err = r.raw("desk-1:5003", "id-1", application("ada", "c1"))
	wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err)
	if _, err := stale.call(stale.query(protocol.QueryStatus)); err != nil {
		t.Errorf("a refused repeat has cost the player its token: %v", err)
	}
	if n := len(r.m.Standings()); n != 1 {
		t.Errorf("%d players are registered, want 1", n)
	}
}

// query is a question to the manager.
func (s *scripted) query(kind string) *protocol.LeagueQuery {
	return &protocol.LeagueQuery{Header: s.header(protocol.TypeLeagueQuery), QueryType: kind}
}

func TestAnAgentIsKnownAgainByItsToken(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ada, ben := r.player("ada"), r.player("ben")
	move := func(s *scripted, token, name, url string) (protocol.Message, error) {
		m := s.application().(*protocol.LeagueRegisterRequest)
		m.AuthToken, m.ConversationID = token, "again"
		m.Meta.DisplayName, m.Meta.ContactEndpoint = name, url
		return s.call(m)
	}
	answer, err := move(ada, ada.token, "ada the second", "http://new-home/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if a := answer.(*protocol.LeagueRegisterResponse); a.PlayerID != ada.id || a.AuthToken != ada.token {
		t.Errorf("the answer is %+v, want %s with the token it showed", a, ada.id)
	}
	if s := r.m.Standings(); len(s) != 2 || s[0].DisplayName != "ada the second" {
		t.Errorf("the players are %+v", s)
	}
	answer, err = move(ada, ada.token, "ben", "http://new-home/mcp")
	wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err)
	answer, err = move(ada, ada.token, "ada", ben.url)
	wantRefusal(t, 2003, protocol.CodeInvalidEndpoint, answer, err)
	answer, err = move(ada, ben.token+"x", "ben", "http://elsewhere/mcp")
	wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err)
	referee := r.agent(protocol.RoleReferee, "rex")
	m := referee.application()
	m.Head().AuthToken = ada.token // a player's token makes no referee of it
	answer, err = referee.call(m)
	if err != nil || answer.(*protocol.RefereeRegisterResponse).RefereeID != "REF01" {
		t.Errorf("the referee got %+v, %v", answer, err)
	}
}

func TestTolerantModeLetsAnAgentReplaceItselfBeforeTheStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant; c.Players = 2 })
	again := func(name, sender string) (*protocol.LeagueRegisterResponse, error) {
		return r.signup("x", func(m *protocol.LeagueRegisterRequest) {
			m.Sender, m.Meta.DisplayName, m.Meta.ContactEndpoint = sender, name, "http://desk/mcp"
		})
	}
	first := must2(t)(again("ada", "player:ada"))
	next := must2(t)(again("ada", "player:ada"))
	if next.PlayerID != "P01" || next.AuthToken == first.AuthToken {
		t.Errorf("the second registration got %s and the token is new: %v", next.PlayerID, next.AuthToken != first.AuthToken)
	}
	moved := must2(t)(again("ada", "player:P05")) // and now it knows what it wants
	if moved.PlayerID != "P05" {
		t.Errorf("it asked for P05 and got %s", moved.PlayerID)
	}
	for _, token := range []string{first.AuthToken, next.AuthToken} {
		s := &scripted{r: r, role: protocol.RolePlayer, id: "P01", token: token, dialct: protocol.Contracts, calls: r.caller("desk")}
		answer, err := s.call(s.query(protocol.QueryStatus))
		wantRefusal(t, 6001, protocol.CodeTokenInvalid, answer, err)
	}
	if s := r.m.Standings(); len(s) != 1 || s[0].PlayerID != "P05" {
		t.Errorf("the players are %+v", s)
	}
	ben := must2(t)(r.signup("ben", nil))
	if ben.PlayerID != "P01" {
		t.Errorf("the id that was given up is not free: ben is %s", ben.PlayerID)
	}
	r.referee("north")
	if err := r.m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	wantRejected(t, must2(t)(again("ada", "player:P05")))
}

// book is a log whose lines tests wait for.
type book struct{ watched[string] }

func (b *book) Write(line []byte) (int, error) {
	b.add(string(line))
	return len(line), nil
}

func (b *book) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func (b *book) lines(with string) []string {
	return slices.DeleteFunc(b.all(), func(line string) bool { return !strings.Contains(line, with) })
}

func TestProbes(t *testing.T) {
	t.Parallel()
	t.Run("require", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *manager.Config) { c.Probe = manager.ProbeRequire })
		answer, err := r.signup("nobody", nil)
		wantRefusal(t, 2003, protocol.CodeInvalidEndpoint, answer, err)
		referee, err := r.signupReferee("nobody", nil)
		wantRefusal(t, 1002, protocol.CodeInvalidEndpoint, referee, err)
		r.player("ada") // listens; that it knows no ping does not matter
	})
	t.Run("warn", func(t *testing.T) {
		t.Parallel()
		var log book
		r := newRig(t, func(c *manager.Config) { c.Probe, c.Log = manager.ProbeWarn, log.logger() })
		r.player("present")
		must2(t)(r.signup("absent", nil))
		line := log.until(t, "a warning", func(line string) bool { return strings.Contains(line, "level=WARN") })
		if !strings.Contains(line, "http://absent/mcp") || !strings.Contains(line, "agent=P02") {
			t.Errorf("the warning is: %s", line)
		}
	})
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, func(c *manager.Config) { c.Probe = manager.ProbeOff })
		probed := make(chan string, 1)
		r.serve(t.Context(), "silent", jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			probed <- req.Method
			return jsonrpc.Response{Result: jsontext.Value("{}")}
		}))
		must2(t)(r.signup("silent", nil))
		r.m.Close() // waits for what is in the background
		if len(probed) > 0 {
			t.Errorf("the endpoint was called with %s", <-probed)
		}
	})
}

func TestTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	var log book
	r := newRig(t, func(c *manager.Config) { c.Log = log.logger() })
	ada := r.player("ada")
	if len(log.lines("tok-P01-***")) == 0 || len(log.lines(ada.token)) > 0 {
		t.Errorf("the log is:\n%s", log.all())
	}
}

func TestManyRegisterAtOnce(t *testing.T) {
	t.Parallel()
	const n = 50
	r := newRig(t, func(c *manager.Config) { c.MaxPlayers = n - 10 })
	ids, full := make(chan string, n), make(chan error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			answer, err := r.signup(fmt.Sprintf("p%d", i), nil)
			if err != nil {
				full <- err
				return
			}
			ids <- answer.PlayerID
		})
	}
	all.Wait()
	close(ids)
	seen := make(map[string]bool)
	for id := range ids {
		seen[id] = true
	}
	if len(seen) != n-10 || len(full) != 10 {
		t.Errorf("%d ids were given and %d players turned away, want %d and 10", len(seen), len(full), n-10)
	}
}
