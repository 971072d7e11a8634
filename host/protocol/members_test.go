package protocol

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// TestPlainMessages: messages that are written and read without reflection come out as
// package json writes and reads them, with every member that they can have.
func TestPlainMessages(t *testing.T) {
	t.Parallel()
	h := Header{
		Protocol: Version, Sender: "player:\"P01\"\n", Timestamp: "2026-03-14T09:10:14Z", ConversationID: "é\u2028",
		AuthToken: "<&>", LeagueID: cup, RoundID: RoundNumber(-3), MatchID: "R1M1", GameType: GameEvenOdd,
	}
	with := func(t Type) Header { h.MessageType = t; return h }
	flags := []Opt[bool]{{}, Null[bool](), Some(true), Some(false)}
	var all []Message
	for i, flag := range flags {
		all = append(all,
			&Ack{with("GAME_OVER_ACK"), StatusAcknowledged, heron, refOne, flag, "v2", "a \"text\""},
			&GameJoinAck{with(TypeGameJoinAck), heron, clock("09:00:00"), flag, flags[len(flags)-1-i], "ACK", "commit-1"})
	}
	for _, c := range []*ChoiceContext{nil, {}, {OpponentID: otter, RoundID: NoRound(), YourStandings: &OwnStandings{Wins: Some(0)}}} {
		all = append(all, &ChooseParityCall{with(TypeChooseParityCall), heron, c, clock("09:00:30"), "c0ffee"})
	}
	all = append(all,
		&GameInvitation{with(TypeGameInvitation), PlayerA, otter}, &GameInvitation{},
		&ChooseParityResponse{with(TypeChooseParityResponse), heron, Even, Odd, "n0nce"}, &ChooseParityResponse{})
	read := 0
	for _, m := range all {
		want, err := json.Marshal(m, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Encode(m)
		if err != nil || string(got) != string(want) {
			t.Errorf("%v\n got %s\nwant %s", err, got, want)
		}
		goType := reflect.TypeOf(m).Elem()
		reread := reflect.New(goType).Interface().(Message)
		if readPlain(reread, plainFields(goType), parsed(t, got).Without(headerNames...)) {
			read++
			*reread.Head() = *m.Head()
			if diff := cmp.Diff(m, reread, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
				t.Errorf("%s is read otherwise:\n%s", got, diff)
			}
		}
	}
	if want := len(all) - 5; read != want { // a null, or an object within, is read by package json
		t.Errorf("%d messages are read as a whole, want %d", read, want)
	}
}
