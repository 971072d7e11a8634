package dialect_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
)

// TestFindBeginning: what managers say of the start of a league is read in any
// wrapping, and a word in another sense is not taken for it.
func TestFindBeginning(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]dialect.Beginning{
		`{"jsonrpc":"2.0","id":1,"result":{"status":"started","rounds":3}}`:                                     dialect.Begun,
		`{"jsonrpc":"2.0","id":1,"result":"League started"}`:                                                    dialect.Begun,
		`{"result":{"content":[{"type":"text","text":"{\"success\":true,\"message\":\"Starting round 1\"}"}]}}`: dialect.Begun,
		`{"started":true}`: dialect.Begun,
		`{"message_type":"LEAGUE_STATUS","status":"IN_PROGRESS"}`:          dialect.Begun,
		`League started with 4 players`:                                    dialect.Begun,
		`{"status":"error","message":"League already started"}`:            dialect.Already,
		`The league is already in progress`:                                dialect.Already,
		`{"status":"WAITING_FOR_PLAYERS"}`:                                 dialect.TooFew,
		`{"success":false,"error":"Not enough players (1/2)"}`:             dialect.TooFew,
		`Need at least 2 players to start`:                                 dialect.TooFew,
		`Cannot start league: at least two referees have to be registered`: dialect.TooFew,
		`{"started":false}`:                                                dialect.Denied,
		`{"status":"ignored"}`:                                             dialect.Denied,
		`{"message_type":"ERROR","status":"UNKNOWN_MESSAGE_TYPE"}`:         dialect.Denied,
		`{"detail":"Missing field: players need a token"}`:                 dialect.Unsaid,
		`{"status":"ok"}`:                                                  dialect.Unsaid,
		`{"status":"acknowledged","message_type":"START_LEAGUE_ACK"}`:      dialect.Unsaid,
		``:                                  dialect.Unsaid,
		`<html><body>Welcome</body></html>`: dialect.Unsaid,
	} {
		if got := dialect.FindBeginning([]byte(answer)); got != want {
			t.Errorf("%s: %d, want %d", answer, got, want)
		}
	}
}
