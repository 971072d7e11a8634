package protocol

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TestBroadcastIsTheMessage: a copy of a broadcast message is byte by byte what
// reflection writes of the message itself, whatever the header holds.
func TestBroadcastIsTheMessage(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		h := *s.message.Head()
		if h.odd != nil || h.Extra != nil {
			continue
		}
		want, err := json.Marshal(s.message, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Encode(s.message)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n got %s\nwant %s", s.name, err, got, want)
		}
		got, err = Encode(Broadcast(s.message)(h))
		if err != nil || string(got) != string(want) {
			t.Errorf("a copy of %s: %v\n got %s\nwant %s", s.name, err, got, want)
		}
	}
	for _, r := range []Round{{}, NoRound(), RoundNumber(7), {text: `"ROUND" 1`, isText: true, is: present}} {
		ack := &Ack{Header: NewHeader("GAME_OVER_ACK", "player:\"P01\"\n", "", "é\u2028"), Status: StatusAcknowledged, RefereeID: "<&>"}
		ack.RoundID = r
		want, err := json.Marshal(ack, plain)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []Message{ack, Broadcast(ack)(ack.Header)} {
			if got, err := Encode(m); err != nil || string(got) != string(want) {
				t.Errorf("%v: %v\n got %s\nwant %s", r, err, got, want)
			}
		}
	}
}

func TestEncodeRefusesTexts(t *testing.T) {
	t.Parallel()
	const bad = "\xff"
	good := NewHeader("GAME_OVER_ACK", "player:P01", "2026-03-14T09:10:14Z", "conv")
	broken, repeated := good, good
	repeated.Extra = jsontext.Value(`{"sender":"x"}`)
	broken.ConversationID = bad
	table := &LeagueStandingsUpdate{Header: NewHeader(TypeLeagueStandingsUpdate, "league_manager", "", ""), Standings: []Standing{{DisplayName: bad}}}
	for what, m := range map[string]Message{
		"a header field":          &Ack{Header: broken},
		"an own field":            &Ack{Header: good, PlayerID: bad},
		"a type of another shape": &Ack{Header: NewHeader(TypeGameOver, "", "", "")},
		"an extra that is none":   &Ack{Header: Header{MessageType: "GAME_OVER_ACK", Extra: jsontext.Value(`1`)}},
		"an extra known member":   &Ack{Header: repeated},
		"a round":                 &Ack{Header: Header{MessageType: "GAME_OVER_ACK", RoundID: Round{text: bad, isText: true, is: present}}},
		"a broadcast's field":     Broadcast(table)(table.Header),
		"a copy's header":         Broadcast(&Ack{Header: good})(broken),
	} {
		if raw, err := Encode(m); err == nil || !strings.HasPrefix(err.Error(), "protocol: encode ") {
			t.Errorf("%s: encoded as %s, %v", what, raw, err)
		}
	}
}
