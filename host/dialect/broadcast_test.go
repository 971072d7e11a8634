package dialect

import (
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

// TestBroadcastsAreWrappedLikeTheirMessage in every dialect, for whom each copy
// is meant.
func TestBroadcastsAreWrappedLikeTheirMessage(t *testing.T) {
	t.Parallel()
	message := &protocol.LeagueStandingsUpdate{
		Header:    protocol.NewHeader(protocol.TypeLeagueStandingsUpdate, "league_manager", "2026-03-14T09:10:14Z", "cup-table-1"),
		Standings: []protocol.Standing{{Rank: 1, PlayerID: "P01", Points: 3}},
	}
	c := protocol.Broadcast(message)
	for _, d := range append(OfProtocol(), variants...) {
		for _, token := range []string{"tok-LM-1", "tok-LM-2"} {
			h := message.Header
			h.AuthToken = token
			single := *message
			single.Header = h
			want, err := d.Call(&single)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Call(c(h))
			if err != nil || string(got.Document(nil)) != string(want.Document(nil)) {
				t.Errorf("%s: %v\n got %s\nwant %s", d.Name, err, got.Document(nil), want.Document(nil))
			}
		}
	}
}
