package protocol

import "testing"

// TestCatalog: every type is described, with an answer that exists, and no name stands
// for two types. TestReferencePage holds methods, answers and roles to the page.
func TestCatalog(t *testing.T) {
	t.Parallel()
	owner := make(map[string]Type)
	for _, typ := range Types() {
		d, ok := Describe(typ)
		if !ok || d.Type != typ || d.Title == "" || len(d.From) == 0 || d.Answer != "" && catalog().types[d.Answer] == nil {
			t.Errorf("%s is described as %+v", typ, d)
		}
		registers := typ == TypeLeagueRegisterRequest || typ == TypeRefereeRegisterRequest
		if wants := d.Method != "" && !registers; d.Auth != wants || d.Method == "" && d.Answer != "" {
			t.Errorf("%s wants a token: %v, and is answered with %q", typ, d.Auth, d.Answer)
		}
		if h := New(typ).Head(); h.MessageType != typ || h.Protocol != Version {
			t.Errorf("New(%s) has the header %+v", typ, h)
		}
		for _, name := range d.Names {
			if found, ok := TypeOfMethod(name); owner[name] != "" || !ok || found != typ {
				t.Errorf("%s stands for %s and %s, and is found as %s", name, owner[name], typ, found)
			}
			owner[name] = typ
		}
	}
	_, described := Describe("NO_SUCH_TYPE")
	_, found := TypeOfMethod("no_such_method")
	if _, err := Schema("NO_SUCH_TYPE", Strict); described || found || New("NO_SUCH_TYPE") != nil || err == nil {
		t.Error("a type that does not exist is known")
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
