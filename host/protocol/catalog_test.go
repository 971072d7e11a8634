package protocol

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCatalog holds the catalog to the protocol's table of messages,
// methods and answers.
func TestCatalog(t *testing.T) {
	t.Parallel()
	want := map[Type][2]string{
		"REFEREE_REGISTER_REQUEST": {"register_referee", "REFEREE_REGISTER_RESPONSE"},
		"LEAGUE_REGISTER_REQUEST":  {"register_player", "LEAGUE_REGISTER_RESPONSE"},
		"START_LEAGUE":             {"start_league", "LEAGUE_STATUS"},
		"SET_PLAYER_STATUS":        {"set_player_status", "PLAYER_STATUS"},
		"SET_PACE":                 {"set_pace", "LEAGUE_PACE"},
		"MATCH_PROGRESS":           {"report_match_progress", "MATCH_PROGRESS_ACK"},
		"ROUND_ANNOUNCEMENT":       {"notify_round", "ROUND_ANNOUNCEMENT_ACK"},
		"LEAGUE_STANDINGS_UPDATE":  {"update_standings", "STANDINGS_UPDATE_ACK"},
		"ROUND_COMPLETED":          {"notify_round_completed", "ROUND_COMPLETED_ACK"},
		"LEAGUE_COMPLETED":         {"notify_league_completed", "LEAGUE_COMPLETED_ACK"},
		"GAME_INVITATION":          {"handle_game_invitation", "GAME_JOIN_ACK"},
		"CHOOSE_PARITY_CALL":       {"parity_choose", "CHOOSE_PARITY_RESPONSE"},
		"GAME_OVER":                {"notify_match_result", "GAME_OVER_ACK"},
		"GAME_ERROR":               {"notify_game_error", "GAME_ERROR_ACK"},
		"MATCH_RESULT_REPORT":      {"report_match_result", "MATCH_RESULT_ACK"},
		"LEAGUE_QUERY":             {"league_query", "LEAGUE_QUERY_RESPONSE"},
		"GAME_JOIN_ACK":            {"game_join_ack", "GAME_JOIN_ACK_ACK"},
		"CHOOSE_PARITY_RESPONSE":   {"choose_parity_response", "CHOOSE_PARITY_RESPONSE_ACK"},
		"LEAGUE_ERROR":             {"league_error", ""},
	}
	got := make(map[Type][2]string)
	for _, typ := range Types() {
		d, ok := Describe(typ)
		if !ok || d.Type != typ || d.Title == "" || len(d.From) == 0 {
			t.Errorf("%s is described as %+v", typ, d)
		}
		if d.Method != "" {
			got[typ] = [2]string{d.Method, string(d.Answer)}
		} else if d.Answer != "" || d.Auth {
			t.Errorf("%s is only an answer: %+v", typ, d)
		}
		if d.Answer != "" && catalog().types[d.Answer] == nil {
			t.Errorf("%s is answered with %s, which does not exist", typ, d.Answer)
		}
		if unauthenticated := typ == TypeLeagueRegisterRequest || typ == TypeRefereeRegisterRequest; d.Method != "" && d.Auth == unauthenticated {
			t.Errorf("%s wants a token: %v", typ, d.Auth)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d, _ := Describe(TypeChooseParityCall); !cmp.Equal(d.Aliases, []string{"choose_parity", "receive_parity_call"}) {
		t.Errorf("aliases %v", d.Aliases)
	}
	if _, ok := Describe("NO_SUCH_TYPE"); ok {
		t.Error("a type that does not exist is described")
	}
}

// TestMethodsAreUnique: no name stands for two types.
func TestMethodsAreUnique(t *testing.T) {
	t.Parallel()
	owner := make(map[string]Type)
	for _, e := range catalog().lines {
		if e.Method == "" {
			continue
		}
		for _, name := range e.Names {
			if other, taken := owner[name]; taken {
				t.Errorf("%s stands for %s and %s", name, other, e.Type)
			}
			owner[name] = e.Type
			if typ, ok := TypeOfMethod(name); !ok || typ != e.Type {
				t.Errorf("%s is found as %s", name, typ)
			}
		}
	}
	if _, ok := TypeOfMethod("no_such_method"); ok {
		t.Error("a method that does not exist is found")
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, typ := range Types() {
		m := New(typ)
		if h := m.Head(); h.MessageType != typ || h.Protocol != Version {
			t.Errorf("New(%s) has the header %+v", typ, h)
		}
		if New(typ) == m || reflect.TypeOf(m).Elem() != catalog().types[typ].goType {
			t.Errorf("New(%s) is %T, or not new", typ, m)
		}
	}
	if New("NO_SUCH_TYPE") != nil {
		t.Error("a message of a type that does not exist")
	}
}

// TestAnswerHeader: an answer echoes what belongs to the conversation and
// nothing that belongs to the sender.
func TestAnswerHeader(t *testing.T) {
	t.Parallel()
	m, err := decodeText(TypeGameInvitation, []byte(withType(TypeGameInvitation,
		`{"sender":"referee:REF01","auth_token":"t","conversation_id":"c","league_id":"l","round_id":"ROUND_1","match_id":"m","game_type":"g","opponent_id":null,"more":1}`)), Tolerant, true)
	if err != nil {
		t.Fatal(err)
	}
	h := m.Head().Answer(TypeGameJoinAck, "player:P01", clock("09:00:00"))
	raw, err := Encode(&GameJoinAck{Header: h})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"protocol":"league.v2","message_type":"GAME_JOIN_ACK","sender":"player:P01","timestamp":"2026-03-14T09:00:00Z",` +
		`"conversation_id":"c","league_id":"l","round_id":"ROUND_1","match_id":"m","game_type":"g"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
