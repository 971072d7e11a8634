package manager_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// ask has the manager handle a request as it stands.
func (r *rig) ask(method, params string) jsonrpc.Response {
	return r.m.Endpoint().Handle(context.Background(), &jsonrpc.Request{
		Kind: jsonrpc.KindCall, Method: method, Params: []byte(params), ID: []byte("1"), Raw: []byte(params),
		Transport: jsonrpc.TransportLoopback, RemoteAddr: "somebody",
	})
}

func (r *rig) refusals() []manager.Event {
	return slices.DeleteFunc(r.events.all(), func(e manager.Event) bool { return e.Kind != manager.MessageRefused })
}

const lean = `{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"Ada","contact_endpoint":"http://ada/mcp"}}`

// A strict league says of a registration that it refuses whether a tolerant one
// would take it, to the agent and to whoever runs the league, and to the latter
// once.
func TestWhoRunsTheLeagueHearsOfRefusedRegistrations(t *testing.T) {
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
	answer, err := twin.call(twin.application())
	wantRefusal(t, 2002, protocol.CodeDuplicateName, answer, err)

	got := r.refusals()
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

// Of other messages only those are told that strictness alone refuses: nobody
// who knows no token can write on the screen of whoever runs the league.
func TestOnlyStrictnessIsToldOfOtherMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.run()
	referee := r.referee("north")
	r.field(2)
	if err := r.m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
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
	if got := r.refusals(); len(got) != 0 {
		t.Errorf("told of a wrong token: %+v", got)
	}
	if answer := r.ask("report_match_result", report(referee.token, "")); answer.Error == nil || answer.Error.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a report without a conversation is answered by %+v", answer)
	}
	got := r.refusals()
	if len(got) != 1 || !got[0].Tolerant || got[0].Agent != "referee:REF01" || got[0].Message != protocol.TypeMatchResultReport {
		t.Errorf("told of %+v", got)
	}
	if answer := r.ask("report_match_result", report(referee.token, `,"conversation_id":"c"`)); answer.Error != nil {
		t.Errorf("the report by the book is answered by %+v", answer.Error)
	}
}

// A tolerant league refuses for other reasons, and nobody is told of more than
// so many.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
	for i := range 1000 {
		r.ask("register_player", fmt.Sprintf(`{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"n%d","contact_endpoint":"nowhere"}}`, i))
	}
	got := r.refusals()
	if len(got) != 200 || got[0].Tolerant || !strings.Contains(got[0].Error, "endpoint is not an http or https URL") {
		t.Errorf("told of %d refusals, the first %+v", len(got), got[0])
	}
}
