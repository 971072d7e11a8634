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
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// signup is a player's registration, with whatever a test changes of it.
func (r *rig) signup(name string, change func(*protocol.LeagueRegisterRequest)) (*protocol.LeagueRegisterResponse, error) {
	m := r.silent(protocol.RolePlayer, name).application().(*protocol.LeagueRegisterRequest)
	if m.Meta.ContactEndpoint = "http://" + name + "/mcp"; change != nil {
		change(m)
	}
	return send[*protocol.LeagueRegisterResponse](r, m)
}

func (r *rig) signupReferee(name string, change func(*protocol.RefereeRegisterRequest)) (*protocol.RefereeRegisterResponse, error) {
	m := r.silent(protocol.RoleReferee, name).application().(*protocol.RefereeRegisterRequest)
	if m.Meta.ContactEndpoint = "http://" + name + "/mcp"; change != nil {
		change(m)
	}
	return send[*protocol.RefereeRegisterResponse](r, m)
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
func (r *rig) admit(name string, change func(*protocol.LeagueRegisterRequest)) *protocol.LeagueRegisterResponse {
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
func wantRejected(t testing.TB, answer *protocol.LeagueRegisterResponse) {
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
