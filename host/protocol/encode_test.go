package protocol

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// withType adds the message type to a body.
func withType(typ Type, body string) string {
	return `{"message_type":"` + string(typ) + `",` + strings.TrimPrefix(body, "{")
}

// TestDecodeDoesNotKeepTheText: a server may reuse its buffer.
func TestDecodeDoesNotKeepTheText(t *testing.T) {
	t.Parallel()
	body := []byte(withType(TypeLeagueError, `{"error_code":"E005","error_description":"x","context":{"y":[1]}}`))
	m, err := decodeText(TypeLeagueError, body, Tolerant, true)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Encode(m)
	for i := range body {
		body[i] = '!'
	}
	if raw, again := Encode(m); err != nil || again != nil || string(raw) != string(want) {
		t.Errorf("%s, %v, %v", raw, err, again)
	}
}

// TestTables: every table fits the checker and describes its fields.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, e := range messages.entries {
		checkTable(t, string(e.Type), e.table())
	}
}

func checkTable(t *testing.T, where string, s *shape) {
	t.Helper()
	if len(s.fields) > 64 {
		t.Errorf("%s has %d rules; the checker counts presence in 64 bits", where, len(s.fields))
	}
	for _, f := range s.fields {
		if f.doc == "" {
			t.Errorf("%s: %s has no description", where, f.name)
		}
		if sub := f.inner(); sub != nil {
			checkTable(t, where+"."+f.name, sub)
		}
	}
	for name, part := range s.parts {
		checkTable(t, where+" "+name, part)
	}
}

// TestPlainMessages: messages come out as package json writes them, with every member that
// they can have, and are read again.
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
			&Ack{with("ROUND_COMPLETED_ACK"), StatusAcknowledged, heron, refOne, flag, "v2", "a \"text\""},
			&GameJoinAck{with(TypeGameJoinAck), heron, clock("09:00:00"), flag, flags[len(flags)-1-i], "ACK", "commit-1"})
	}
	for _, c := range []*ChoiceContext{nil, {}, {OpponentID: otter, RoundID: Round{Opt: Null[int]()}, YourStandings: &OwnStandings{Wins: Some(0)}}} {
		all = append(all, &ChooseParityCall{with(TypeChooseParityCall), heron, c, clock("09:00:30"), "c0ffee"})
	}
	all = append(all,
		&GameInvitation{with(TypeGameInvitation), PlayerA, otter},
		&ChooseParityResponse{with(TypeChooseParityResponse), heron, Even, Odd, "n0nce"})
	for _, m := range all {
		got := asPackageJSON(t, m)
		reread := New(m.Head().MessageType)
		reread.Head().Protocol = ""
		new(checker).object(parsed(t, got), nil, messages.byType[m.Head().MessageType].table(), placeOf(reread))
		if diff := cmp.Diff(m, reread, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("%s is read otherwise:\n%s", got, diff)
		}
	}
}

// asPackageJSON holds what is written of a message, and of a copy of it as a broadcast, to
// the bytes that reflection writes, which it returns.
func asPackageJSON(t *testing.T, m Message) jsontext.Value {
	t.Helper()
	want, err := json.Marshal(m, plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Message{m, Broadcast(m)(*m.Head())} {
		if got, err := Encode(m); err != nil || string(got) != string(want) {
			t.Errorf("%T: %v\n got %s\nwant %s", m, err, got, want)
		}
	}
	return want
}

// TestBroadcastIsTheMessage: whatever the message and its header hold.
func TestBroadcastIsTheMessage(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		asPackageJSON(t, s.message)
	}
	for _, r := range []Round{{}, Round{Opt: Null[int]()}, RoundNumber(7)} {
		ack := &Ack{Header: NewHeader("GAME_OVER_ACK", "player:\"P01\"\n", "", "é\u2028"), Status: StatusAcknowledged, RefereeID: "<&>"}
		ack.RoundID = r
		asPackageJSON(t, ack)
	}
}

func TestEncodeRefusesTexts(t *testing.T) {
	t.Parallel()
	const bad = "\xff"
	good := NewHeader("GAME_OVER_ACK", "player:P01", "2026-03-14T09:10:14Z", "conv")
	broken := good
	broken.ConversationID = bad
	table := &LeagueStandingsUpdate{Header: NewHeader(TypeLeagueStandingsUpdate, "league_manager", "", ""), Standings: []Standing{{DisplayName: bad}}}
	for what, m := range map[string]Message{
		"a header field":          &Ack{Header: broken},
		"an own field":            &Ack{Header: good, PlayerID: bad},
		"a type of another shape": &Ack{Header: NewHeader(TypeGameOver, "", "", "")},
		"a round":                 &Ack{Header: Header{MessageType: "GAME_OVER_ACK", RoundID: Round{Opt: Some(0), text: bad, isText: true}}},
		"a broadcast's field":     Broadcast(table)(table.Header),
		"a copy's header":         Broadcast(&Ack{Header: good})(broken),
	} {
		if raw, err := Encode(m); err == nil || !strings.HasPrefix(err.Error(), "protocol: encode ") {
			t.Errorf("%s: encoded as %s, %v", what, raw, err)
		}
	}
}
