package manager_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// snapshot is what may not change when a request is refused.
func (r *rig) snapshot() any {
	return []any{r.m.Standings(), r.m.Results()}
}

// Every message that agents send after they have registered, by every kind of stranger.
func TestMessagesNeedTheRightToken(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			r, referee, players := running(t, func(c *manager.Config) { c.Mode, c.AdminToken = mode, "tok-admin-secret" })
			if _, err := referee.call(referee.query(protocol.QueryStatus)); err != nil { // it shows its token
				t.Fatal(err)
			}
			before := r.snapshot()
			ada, ben := players[0], players[1]
			match := referee.announcements(1).Matches[0]
			report := referee.reportOf(match, 1, fair(match))
			codes := map[protocol.Type][2]int{ // missing, bad
				protocol.TypeStartLeague:       {11, 12},
				protocol.TypeMatchResultReport: {5001, 5001},
				protocol.TypeLeagueQuery:       {6001, 6001},
				protocol.TypeRoundAnnouncement: {3001, 3001},
				protocol.TypeGameJoinAck:       {4001, 4001},
				protocol.TypeGameOver:          {4001, 4001},
			}
			for kind, rpc := range codes {
				own := "player:P01"
				switch kind {
				case protocol.TypeStartLeague:
					own = "launcher"
				case protocol.TypeMatchResultReport:
					own = "referee:REF01"
				}
				for _, c := range []struct {
					what, sender, token string
					missing             bool
				}{
					{"no token", own, "", true},
					{"a wrong token", own, ada.token[:len(ada.token)-1] + "!", false},
					{"another agent's token", own, ben.token, false},
					{"a token that is a prefix", own, ada.token[:len(ada.token)-1], false},
					{"another agent's sender", "player:P02", ada.token, false},
					{"a sender nobody has", "player:P77", ada.token, false},
					{"a sender of another role", "referee:P01", ada.token, false},
					{"the referee's sender", "referee:REF01", ada.token, false},
					{"the manager's sender", "league_manager", ada.token, false},
					{"the launcher's sender", "launcher", ada.token, false},
					{"no sender at all", "", "", true},
					{"a sender that is none", "ada", ada.token, false},
				} {
					h := report.Header
					h.MessageType, h.Sender, h.AuthToken = kind, c.sender, c.token
					m := protocol.New(kind)
					if kind == protocol.TypeMatchResultReport {
						clone := *report
						m = &clone
					}
					*m.Head() = h
					answer, err := send[protocol.Message](r, m)
					want, code := rpc[1], protocol.CodeTokenInvalid
					if c.missing {
						want, code = rpc[0], protocol.CodeTokenMissing
					}
					if refusal := refused(t, answer, err); refusal.RPC != want || refusal.Code != code {
						t.Errorf("%s with %s is refused with %d %s, want %d %s", kind, c.what, refusal.RPC, refusal.Code, want, code)
					} else if c.token != "" && strings.Contains(string(refusal.Data), c.token) {
						t.Errorf("%s with %s is told its token: %s", kind, c.what, refusal.Data)
					} else if !c.missing && !strings.Contains(string(refusal.Data), `"action":"`+string(kind)+`"`) {
						t.Errorf("the refusal of %s with %s does not name it: %s", kind, c.what, refusal.Data)
					}
				}
			}
			if diff := cmp.Diff(before, r.snapshot()); diff != "" {
				t.Errorf("refused messages have changed the league:\n%s", diff)
			}
			own := ada.reportOf(match, 1, fair(match)) // a player reports nothing in its own name
			answer, err := ada.call(own)
			if refusal := refused(t, answer, err); refusal.RPC != 5002 && refusal.RPC != -32602 || len(r.m.Results()) != 0 {
				t.Errorf("a player's report is refused with %d %s", refusal.RPC, refusal.Code)
			}
			// The very same report counts when it is the referee's own.
			if _, err := referee.call(report); err != nil {
				t.Errorf("the referee is refused: %v", err)
			}
		})
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

func TestTokenIdentifiesAnUnnamedSender(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r := newRig(t, func(c *manager.Config) { c.Mode = mode })
		ada := r.player("ada")
		q := ada.query(protocol.QueryNextMatch)
		q.Sender = ""
		answer, err := ada.call(q)
		if mode == protocol.Strict {
			refuses(t, -32602, protocol.CodeMissingField)(answer, err)
		} else if err != nil {
			t.Errorf("a message without a sender is refused: %v", err)
		}
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
