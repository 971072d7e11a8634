package manager_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// running starts a league of two players whose referee waits to be told what to report.
func running(t testing.TB, change func(*manager.Config)) (r *rig, referee *scripted, players []*scripted) {
	t.Helper()
	r = newRig(t, change)
	referee = r.referee("north")
	players = r.field(2)
	r.begin()
	referee.announcements(1)
	return r, referee, players
}

// What neither the checks of conformance nor the matrix of host sends: tokens and senders that
// are nearly right. A refusal names what was asked, and shows no token.
func TestTokensThatAreNearlyRight(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r, referee, players := running(t, func(c *manager.Config) { c.Mode = mode })
		token := players[0].token
		for sender, with := range map[string]string{
			"player:P01": token[:len(token)-1], "player:P02": token[:len(token)-1] + "!", "player:P77": token, "referee:P01": token, "league_manager": token, "ada": token,
		} {
			q := players[0].query(protocol.QueryStatus)
			q.Sender, q.AuthToken = sender, with
			refusal := refuses(t, 6001, protocol.CodeTokenInvalid)(send[protocol.Message](r, q))
			if data := string(refusal.Data); strings.Contains(data, with) || !strings.Contains(data, `"action":"LEAGUE_QUERY"`) {
				t.Errorf("%v: the refusal of %s is %s", mode, sender, data)
			}
		}
		m := referee.announcements(1).Matches[0]
		if answer, err := players[0].call(players[0].reportOf(m, 1, fair(m))); refused(t, answer, err) == nil || len(r.m.Results()) != 0 {
			t.Error("a player reports a result in its own name")
		}
	}
}

func TestMessagesThatAreNotForAManager(t *testing.T) {
	t.Parallel()
	_, _, players := running(t, nil)
	for _, kind := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeRoundAnnouncement, protocol.TypeGameError, protocol.TypeLeagueCompleted} {
		m := protocol.New(kind)
		*m.Head() = players[0].header(kind)
		refuses(t, -32601, protocol.CodeUnknownMessageType)(players[0].call(m))
	}
}

func TestAStoppedManagerAsksToTryLater(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		r := newRig(t, func(c *manager.Config) { c.DataDir = dir })
		r.m.Close()
		answer, err := r.signup("ada", nil)
		if err == nil || !wire.Retryable(err) {
			t.Errorf("the answer is %+v, %v", answer, err)
		}
		if n := len(r.m.Standings()); n != 0 {
			t.Errorf("%d players are registered", n)
		}
	}
}

// ask has the manager handle a request as it stands.
func (r *rig) ask(method, params string) jsonrpc.Response {
	return r.m.Dispatcher().Handle(context.Background(), &jsonrpc.Request{
		Kind: jsonrpc.KindCall, Method: method, Params: []byte(params), ID: []byte("1"), Raw: []byte(params),
		Transport: jsonrpc.TransportLoopback, RemoteAddr: "somebody",
	})
}

const lean = `{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"Ada","contact_endpoint":"http://ada/mcp"}}`

// If a strict league refuses a registration that a tolerant one would accept, the
// refusal says so to the agent. An event reports each refused agent once.
func TestRefusedRegistrationsAreReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for range 3 {
		answer := r.ask("register_player", lean)
		if answer.Error == nil || !strings.Contains(string(answer.Error.Data), "started with --validation tolerant takes this message") {
			t.Errorf("the answer is %+v", answer)
		}
	}
	if answer := r.ask("register_player", `{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"Bo"}}`); strings.Contains(string(answer.Error.Data), "tolerant") {
		t.Errorf("no league takes an agent without an endpoint, but the answer is %s", answer.Error.Data)
	}
	r.player("ada")
	twin := r.agent(protocol.RolePlayer, "twin")
	twin.name = "ada"
	refuses(t, 2002, protocol.CodeDuplicateName)(twin.call(twin.application()))

	got := r.told(manager.MessageRefused)
	if len(got) != 3 {
		t.Fatalf("told of %d refusals, want 3: %+v", len(got), got)
	}
	first := got[0]
	if !first.Tolerant || first.Name != "Ada" || first.URL != "http://ada/mcp" || first.Message != protocol.TypeLeagueRegisterRequest ||
		!strings.Contains(first.Error, "required: /conversation_id, /player_meta/game_types") {
		t.Errorf("told of %+v", first)
	}
	if got[1].Tolerant || got[1].Name != "Bo" || got[2].Tolerant || got[2].Name != "ada" {
		t.Errorf("told of %+v", got[1:])
	}
}

// Of other messages the manager reports only strict refusals: a peer without a
// token cannot write on the screen of the user.
func TestOnlyStrictRefusalsAreReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.run()
	referee := r.referee("north")
	r.field(2)
	r.start()
	m := referee.own(referee.announcements(1))[0]
	report := func(token, conversation string) string {
		return fmt.Sprintf(`{"protocol":"league.v2","message_type":"MATCH_RESULT_REPORT","sender":"referee:REF01","timestamp":"2026-01-01T12:00:00Z"%s,
			"auth_token":%q,"league_id":"cup","round_id":1,"match_id":%q,"game_type":"even_odd","result":{"winner":%q,"score":{%q:3,%q:0},
			"details":{"drawn_number":4,"number_parity":"even","choices":{%[4]q:"even",%[6]q:"odd"}}}}`,
			conversation, token, m.MatchID, m.PlayerAID, m.PlayerAID, m.PlayerBID)
	}
	if answer := r.ask("report_match_result", report("tok-guess", "")); answer.Error == nil || answer.Error.Code != 5001 {
		t.Errorf("a wrong token is answered by %+v", answer)
	}
	if got := r.told(manager.MessageRefused); len(got) != 0 {
		t.Errorf("told of a wrong token: %+v", got)
	}
	if answer := r.ask("report_match_result", report(referee.token, "")); answer.Error == nil || answer.Error.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a report without a conversation is answered by %+v", answer)
	}
	got := r.told(manager.MessageRefused)
	if len(got) != 1 || !got[0].Tolerant || got[0].Agent != "referee:REF01" || got[0].Message != protocol.TypeMatchResultReport {
		t.Errorf("told of %+v", got)
	}
	if answer := r.ask("report_match_result", report(referee.token, `,"conversation_id":"c"`)); answer.Error != nil {
		t.Errorf("the report by the book is answered by %+v", answer.Error)
	}
}

// A tolerant league refuses for other reasons, and reports a bounded number of refusals.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
	for i := range 1000 {
		r.ask("register_player", fmt.Sprintf(`{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"n%d","contact_endpoint":"nowhere"}}`, i))
	}
	got := r.told(manager.MessageRefused)
	if len(got) != 200 || got[0].Tolerant || !strings.Contains(got[0].Error, "endpoint is not an http or https URL") {
		t.Errorf("told of %d refusals, the first %+v", len(got), got[0])
	}
}

// Agents ask who is there before they register, each in its own way.
func TestRefusedQuestionsOfStrangersAreNotReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ada := r.player("ada")
	for told, sender := range []string{
		`"sender":"player:P77"`,
		fmt.Sprintf(`"sender":%q,"auth_token":%q`, ada.header(protocol.TypeLeagueQuery).Sender, ada.token),
	} {
		answer := r.ask("league_query", fmt.Sprintf(`{"protocol":"league.v2","message_type":"LEAGUE_QUERY",%s,
			"timestamp":"2026-01-01T12:00:00Z","conversation_id":"c","query_type":"GET_PLAYERS"}`, sender))
		if answer.Error == nil || !strings.Contains(string(answer.Error.Data), "league_id") {
			t.Errorf("with %q a question without a league is answered by %+v", sender, answer)
		}
		if got := r.told(manager.MessageRefused); len(got) != told {
			t.Errorf("with %q: told of %+v", sender, got)
		}
	}
}
