package manager_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// signup is a player's registration, with whatever a test changes of it.
func (r *rig) signup(name string, change func(*protocol.LeagueRegisterRequest)) (*protocol.RegisterResponse, error) {
	m := r.silent(protocol.RolePlayer, name).application().(*protocol.LeagueRegisterRequest)
	if m.Meta.ContactEndpoint = "http://" + name + "/mcp"; change != nil {
		change(m)
	}
	return send[*protocol.RegisterResponse](r, m)
}

func (r *rig) signupReferee(name string, change func(*protocol.RefereeRegisterRequest)) (*protocol.RegisterResponse, error) {
	m := r.silent(protocol.RoleReferee, name).application().(*protocol.RefereeRegisterRequest)
	if m.Meta.ContactEndpoint = "http://" + name + "/mcp"; change != nil {
		change(m)
	}
	return send[*protocol.RegisterResponse](r, m)
}

// send sends a message to the manager as somebody at a stranger's address.
func send[A protocol.Message](r *rig, m protocol.Message) (A, error) {
	r.t.Helper()
	answer, err := r.caller("stranger").Call(context.Background(), wire.NewPeer(r.url, dialect.Contracts), m)
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

// admit is signup that must not be refused; it may be rejected.
func (r *rig) admit(name string, change func(*protocol.LeagueRegisterRequest)) *protocol.RegisterResponse {
	r.t.Helper()
	answer, err := r.signup(name, change)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer
}

func TestTokensComeFromTheGivenSource(t *testing.T) {
	t.Parallel()
	var log book
	r := newRig(t, func(c *manager.Config) {
		c.Log = log.logger()
		c.Random = strings.NewReader(strings.Repeat("\xab", 20) + strings.Repeat("\xcd", 20))
	})
	want := "tok-P01-" + strings.Repeat("ab", 20)
	if a := r.admit("ada", nil); a.AuthToken != want || a.Status != "ACCEPTED" || a.LeagueID != "cup" || a.Reason != protocol.Null[string]() {
		t.Errorf("the answer is %+v, want the token %s", a, want)
	}
	if len(log.lines("tok-P01-***")) == 0 || len(log.lines(want)) > 0 {
		t.Errorf("the log is:\n%s", log.all())
	}
	r.admit("ben", nil)
	refuses(t, -32603, protocol.CodeInternalError)(r.signup("cleo", nil)) // the source has run dry
	if n := len(r.m.Standings()); n != 2 {
		t.Errorf("%d players are registered, want 2", n)
	}
}

func TestRegistrationsThatAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) {
		c.MaxPlayers, c.MaxReferees, c.AllowHosts = 3, 1, []string{"*.school.example", "10.1.0.0/16", "ada"}
	})
	r.admit("ada", nil)
	eve := func(rpc int, code protocol.Code, change func(*protocol.LeagueRegisterRequest)) {
		t.Helper()
		refuses(t, rpc, code)(r.signup("eve", change))
	}
	for _, endpoint := range []string{
		"http://ada/mcp", "http://[", "localhost:81/mcp", "file:///etc/passwd", "http:///mcp", "http://127.0.0.1:81", "http://a:b@127.0.0.1/mcp",
		"http://127.0.0.1/" + strings.Repeat("x", 3000),
	} {
		eve(2003, protocol.CodeInvalidEndpoint, func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = endpoint })
	}
	for _, name := range []string{" ", strings.Repeat("é", 101), "eve\x1b[2J"} {
		eve(-32602, protocol.CodeInvalidFieldType, func(m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = name })
	}
	eve(-32602, protocol.CodeInvalidFieldType, func(m *protocol.LeagueRegisterRequest) { m.Meta.Version = strings.Repeat("1", 101) })
	eve(-32602, protocol.CodeInvalidFieldType, func(m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = slices.Repeat([]string{"even_odd"}, 40) })
	eve(-32602, protocol.CodeInvalidFieldType, func(m *protocol.LeagueRegisterRequest) { m.Sender = "referee:eve" })
	eve(2004, protocol.CodeUnsupportedGameType, func(m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} })
	eve(2002, protocol.CodeDuplicateName, func(m *protocol.LeagueRegisterRequest) {
		m.Meta.DisplayName, m.Meta.ContactEndpoint = " ada ", "http://127.0.0.1:1/mcp"
	})
	r.admit("ben", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://10.1.2.3:9/mcp" })
	r.admit("cleo", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "https://pc7.school.example/a/b?c=d" })
	full := refuses(t, 2001, protocol.CodeLeagueFull)(r.signup("dan", func(m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "http://localhost/mcp" }))
	wantData(t, full, map[string]any{"max_players": 3.0, "current_players": 3.0})
	if _, err := r.signupReferee("ada", nil); err != nil {
		t.Error(err)
	}
	full = refuses(t, 1001, protocol.CodeLeagueFull)(r.signupReferee("rex", func(m *protocol.RefereeRegisterRequest) { m.Meta.ContactEndpoint = "http://[::1]:8/mcp" }))
	wantData(t, full, map[string]any{"max_referees": 1.0, "current_referees": 1.0})
	refuses(t, 1003, protocol.CodeUnsupportedGameType)(r.signupReferee("rex", func(m *protocol.RefereeRegisterRequest) { m.Meta.GameTypes = []string{"go"} }))
	refuses(t, 1002, protocol.CodeInvalidEndpoint)(r.signupReferee("rex", func(m *protocol.RefereeRegisterRequest) { m.Meta.ContactEndpoint = "ftp://127.0.0.1/mcp" }))
	if n := len(r.m.Standings()); n != 3 {
		t.Errorf("%d players are registered, want 3", n)
	}
}

// wantData fails unless the data of a refusal has the members, both at the top
// level and in the context.
func wantData(t testing.TB, r *dialect.Refusal, want map[string]any) {
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

// wantRejected fails unless a registration was refused with a reason and
// neither id, token nor league.
func wantRejected(t testing.TB, answer *protocol.RegisterResponse) {
	t.Helper()
	if answer.Status != "REJECTED" || answer.Reason.Value() == "" || answer.PlayerID != "" || answer.AuthToken != "" || answer.LeagueID != "" {
		t.Errorf("the answer is %+v, want one of status REJECTED with a reason only", answer)
	}
}

func TestManyRegisterAtOnce(t *testing.T) {
	t.Parallel()
	const n, most = 50, 40
	r := newRig(t, func(c *manager.Config) { c.MaxPlayers = most })
	var ids watched[string]
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if answer, err := r.signup(fmt.Sprintf("p%d", i), nil); err == nil {
				ids.add(answer.PlayerID)
			}
		})
	}
	all.Wait()
	given := ids.all()
	if slices.Sort(given); len(given) != most || len(slices.Compact(given)) != most {
		t.Errorf("the ids that were given are %q, want %d", given, most)
	}
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
		refuses(t, 2003, protocol.CodeInvalidEndpoint)(r.signup("nobody", nil))
		refuses(t, 1002, protocol.CodeInvalidEndpoint)(r.signupReferee("nobody", nil))
		r.player("ada") // listens; that it knows no ping does not matter
	})
	t.Run("warn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var log book
			r := newRig(t, func(c *manager.Config) { c.Probe, c.Log = manager.ProbeWarn, log.logger() })
			r.player("present")
			r.admit("late", nil)
			r.admit("absent", nil)
			time.Sleep(10 * time.Second)
			r.serve(t.Context(), "late", jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
				return jsonrpc.Response{Result: jsontext.Value("{}")}
			}))
			time.Sleep(time.Minute)
			warned := log.lines("level=WARN")
			if len(warned) != 1 || !strings.Contains(warned[0], "http://absent/mcp") || !strings.Contains(warned[0], "agent=P03") {
				t.Errorf("who stays away should be warned of, and nobody else: %q", warned)
			}
		})
	})
}

// raw sends a registration under a JSON-RPC id, as a client does that repeats itself.
func (r *rig) raw(from, id string, m protocol.Message) (protocol.Message, error) {
	r.t.Helper()
	call, err := dialect.Contracts.Call(m)
	if err != nil {
		r.t.Fatal(err)
	}
	client := r.caller(from).Client
	got, err := client.Call(context.Background(), r.url, jsonrpc.Message{Method: call.Method, Params: call.Params, ID: jsontext.Value(`"` + id + `"`)})
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := dialect.ParseAnswer(got.Status, got.Raw)
	if err != nil {
		r.t.Fatal(err)
	}
	return dialect.NewCodec(protocol.Strict).ReadAnswer(m.Head().MessageType, answer)
}

func TestARepeatIsFoldedOnlyWhenItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	application := func(version, conversation string) protocol.Message {
		m := r.silent(protocol.RolePlayer, "ada").application().(*protocol.LeagueRegisterRequest)
		m.ConversationID, m.Meta.Version, m.Meta.ContactEndpoint = conversation, version, "http://ada/mcp"
		return m
	}
	first, err := r.raw("desk-1:5001", "id-1", application("1", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	a := first.(*protocol.RegisterResponse)

	again, err := r.raw("desk-1:5002", "id-1", application("1", "c1")) // a new connection
	if err != nil {
		t.Fatal(err)
	}
	b := again.(*protocol.RegisterResponse)
	if b.PlayerID != a.PlayerID || b.AuthToken == a.AuthToken || b.AuthToken == "" {
		t.Errorf("the repeat got %s with token %s; the first was %s with %s", b.PlayerID, b.AuthToken, a.PlayerID, a.AuthToken)
	}
	stale := r.silent(protocol.RolePlayer, "ada")
	stale.id, stale.token = a.PlayerID, a.AuthToken
	refuses(t, 6001, protocol.CodeTokenInvalid)(stale.call(stale.query(protocol.QueryStatus)))
	stale.token = b.AuthToken
	if _, err := stale.call(stale.query(protocol.QueryStatus)); err != nil {
		t.Errorf("the fresh token is refused: %v", err)
	}

	for what, repeat := range map[string]func() (protocol.Message, error){
		"another JSON-RPC id":  func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-2", application("1", "c1")) },
		"another conversation": func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-1", application("1", "c2")) },
		"another address":      func() (protocol.Message, error) { return r.raw("desk-2:5001", "id-1", application("1", "c1")) },
		"another meta":         func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-1", application("2", "c1")) },
	} {
		answer, err := repeat()
		t.Run(what, func(t *testing.T) { refuses(t, 2002, protocol.CodeDuplicateName)(answer, err) })
	}
	if n := len(r.m.Standings()); n != 1 {
		t.Errorf("%d players are registered, want 1", n)
	}
}

func TestRegisteringAgainCostsTheJournalNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, func(c *manager.Config) { c.DataDir = dir })
	ada := r.player("ada")
	for range 10 {
		m := ada.application()
		m.Head().AuthToken = ada.token
		if _, err := ada.call(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.m.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(manager.JournalName(dir, "cup")); err != nil || bytes.Count(log, []byte("\n")) != 1 {
		t.Errorf("the journal is %s, %v; want 1 event", log, err)
	}
}

// In tolerant mode a dialect without JSON-RPC errors gets refusals as text.
func TestABareRegistrationIsRejectedByStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
	r.player("ada")
	s := r.silent(protocol.RolePlayer, "ada")
	s.dialct, s.url, s.calls.Codec = dialect.Bare, "http://elsewhere/mcp", dialect.NewCodec(protocol.Tolerant)
	answer, err := s.call(s.application())
	if err != nil {
		t.Fatal(err)
	}
	wantRejected(t, answer.(*protocol.RegisterResponse))
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*manager.Config)
		says   string
	}{
		{func(c *manager.Config) { c.Caller = nil }, "Caller"},
		{func(c *manager.Config) { c.LeagueID = "../etc" }, "cannot name a league"},
		{func(c *manager.Config) { c.Players = 1 }, "cannot start with 1"},
		{func(c *manager.Config) { c.Players, c.MaxPlayers = 5, 4 }, "cannot start with 5"},
		{func(c *manager.Config) { c.Players = game.MaxPlayers + 1 }, "2 to 1000 players"},
		{func(c *manager.Config) { c.MaxPlayers = 1 }, "2 to 1000 players"},
		{func(c *manager.Config) { c.MaxReferees = -1 }, "at least 1 referee"},
		{func(c *manager.Config) { c.Legs = -1 }, "legs"},
		{func(c *manager.Config) { c.Players, c.Legs = 1000, 10 }, "fewer legs"},
		{func(c *manager.Config) { c.AllowHosts = []string{"[a"} }, "allowed host"},
	} {
		cfg := manager.Config{Caller: &wire.Caller{Client: jsonrpc.NewClient(new(jsonrpc.Loopback).From("manager"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}}
		c.change(&cfg)
		if _, err := manager.New(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the error is %v, want one that says %q", err, c.says)
		}
	}
}

func TestTheScheduleOfALargeLeagueIsSentByRounds(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee := r.referee("north")
	for i := range 402 { // 80,601 matches
		r.admit(fmt.Sprint("p", i), nil)
	}
	r.start()
	refuses(t, -32602, protocol.CodeMissingField)(referee.call(referee.query(protocol.QuerySchedule)))
	q := about(referee.query(protocol.QuerySchedule), protocol.QueryParams{RoundID: protocol.RoundNumber(401)})
	if got := ask[protocol.ScheduleData](referee, q); len(got.Rounds) != 1 || got.Rounds[0].RoundID.Number() != 401 {
		t.Errorf("round 401 is %+v", got)
	}
}
