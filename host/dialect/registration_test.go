package dialect

import (
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// FuzzAcceptance: whatever a manager answers, looking for an acceptance or an
// agent in it comes to an end, and a no is never a yes.
func FuzzAcceptance(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"status":"ACCEPTED","player_id":"P01","auth_token":"t","league_id":"cup"}}`,
		`{"result":"{\"content\":[{\"text\":\"{\\\"player_id\\\":\\\"P01\\\"}\"}]}"}`,
		`{"result":{"status":"REJECTED","player_id":"P01"}}`,
		`{"error":{"code":-32601,"data":{"player_id":"P01"}}}`,
		`{"data":{"players":[{"player_id":"P01","contact_endpoint":"http://a/mcp","display_name":"A"}]}}`,
		`{"a":[[{"b":{"c":{"d":{"e":{"f":{"g":{"player_id":"P01"}}}}}}}]]}`,
		`{"result":null}`, `[]`, `"`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		found, yes := FindAcceptance(body, 201)
		if !yes && found != (Acceptance{}) && found.ID != "" {
			t.Errorf("no, and yet the id %q", found.ID)
		}
		if doc, err := rawjson.Parse(body); yes && err == nil && doc.Text("status") == protocol.StatusRejected {
			t.Errorf("a rejection is taken for a yes: %s", body)
		}
		if id, ok := FindAgent(body, "A", "http://a/mcp"); ok && !protocol.ValidForeignID(id) {
			t.Errorf("found the agent %q", id)
		}
	})
}

func TestANoIsNoAcceptance(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"result":{"status":"REJECTED","player_id":"P01"}}`, `{"error":{"code":1,"data":{"player_id":"P01"}}}`,
		`{"status":"error"}`, `{"result":{"success":false,"player_id":"P01"}}`, `{"result":{"error_code":"E020","player_id":"P01"}}`, `{"result":{}}`,
	} {
		if found, yes := FindAcceptance([]byte(body), 200); yes {
			t.Errorf("%s: %+v", body, found)
		}
	}
	if id, ok := FindAgent([]byte(`{"players":[{"player_id":"P01","contact_endpoint":"http://b/mcp","display_name":"A"}]}`), "A", "http://a/mcp"); ok {
		t.Errorf("somebody of the same name elsewhere is taken for the agent: %s", id)
	}
}

// TestFindBeginning: what managers say of the start of a league is read in any
// wrapping, and a word in another sense is not taken for it.
func TestFindBeginning(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]protocol.Beginning{
		`{"jsonrpc":"2.0","id":1,"result":{"status":"started","rounds":3}}`:                                     protocol.Begun,
		`{"jsonrpc":"2.0","id":1,"result":"League started"}`:                                                    protocol.Begun,
		`{"result":{"content":[{"type":"text","text":"{\"success\":true,\"message\":\"Starting round 1\"}"}]}}`: protocol.Begun,
		`{"started":true}`: protocol.Begun,
		`{"message_type":"LEAGUE_STATUS","status":"IN_PROGRESS"}`:          protocol.Begun,
		`League started with 4 players`:                                    protocol.Begun,
		`{"status":"error","message":"League already started"}`:            protocol.Already,
		`The league is already in progress`:                                protocol.Already,
		`{"status":"WAITING_FOR_PLAYERS"}`:                                 protocol.TooFew,
		`{"success":false,"error":"Not enough players (1/2)"}`:             protocol.TooFew,
		`Need at least 2 players to start`:                                 protocol.TooFew,
		`Cannot start league: at least two referees have to be registered`: protocol.TooFew,
		`{"started":false}`:                                                protocol.Denied,
		`{"status":"ignored"}`:                                             protocol.Denied,
		`{"message_type":"ERROR","status":"UNKNOWN_MESSAGE_TYPE"}`:         protocol.Denied,
		`{"detail":"Missing field: players need a token"}`:                 protocol.Unsaid,
		`{"status":"ok"}`:                                                  protocol.Unsaid,
		`{"status":"acknowledged","message_type":"START_LEAGUE_ACK"}`:      protocol.Unsaid,
		``:                                  protocol.Unsaid,
		`"`:                                 protocol.Unsaid,
		`<html><body>Welcome</body></html>`: protocol.Unsaid,
	} {
		if got := FindBeginning([]byte(answer)); got != want {
			t.Errorf("%s: %d, want %d", answer, got, want)
		}
	}
}
