package dialect_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

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
		`<html><body>Welcome</body></html>`: protocol.Unsaid,
	} {
		if got := dialect.FindBeginning([]byte(answer)); got != want {
			t.Errorf("%s: %d, want %d", answer, got, want)
		}
	}
}
