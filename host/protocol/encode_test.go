package protocol

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// TestNothingIsLost: unknown members, explicit nulls and empty strings survive
// at every depth, an integer keeps its value however it is spelt.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		typ  Type
		body string
	}{
		"unknown members": {TypeGameInvitation, `{"match_id":"R1M1","x":null,"y":{"a":[1,"",null,{}]},"Match_ID":"other","":0}`},
		"nulls at the top": {TypeGameInvitation, `{"protocol":null,"sender":null,"conversation_id":null,"auth_token":null,"league_id":null,
			"round_id":null,"match_id":"R1M1","game_type":null,"role_in_match":null,"opponent_id":null}`},
		"empty strings":      {TypeGameInvitation, `{"match_id":"R1M1","sender":"","league_id":"","role_in_match":"","round_id":""}`},
		"nulls inside":       {TypeChooseParityCall, `{"match_id":"R1M1","context":{"opponent_id":null,"round_id":null,"your_standings":null,"mood":null},"deadline":null}`},
		"null objects":       {TypeGameOver, `{"match_id":"R1M1","game_result":null,"player_choices":null}`},
		"nulls in lists":     {TypeLeagueCompleted, `{"champion":null,"final_standings":[{"rank":1,"player_id":"P01","points":3,"display_name":null,"wins":null},{"rank":2,"player_id":"P02","points":0,"display_name":""}]}`},
		"no choice":          {TypeGameOver, `{"match_id":"R1M1","game_result":{"status":"","winner_player_id":null,"drawn_number":null,"number_parity":null,"choices":{"P01":"odd","P02":null},"reason":null}}`},
		"empty collections":  {TypeRoundAnnouncement, `{"round_id":1,"byes":[],"matches":[]}`},
		"spelt otherwise":    {TypeMatchResultReport, `{"round_id":1.0,"match_id":"R1M1","result":{"winner":"P01","score":{"P01":3.0,"P02":0e5},"details":{"drawn_number":80e-1}}}`},
		"a null reason":      {"LEAGUE_REGISTER_RESPONSE", `{"status":"ACCEPTED","player_id":"P01","reason":null}`},
		"a round by name":    {TypeRoundCompleted, `{"round_id":"ROUND_1","next_round_id":null,"matches_played":2.0}`},
		"data of any kind":   {"LEAGUE_QUERY_RESPONSE", `{"query_type":"GET_ODDS","data":{"odds":[0.5,1e-7]},"success":false}`},
		"null data":          {"LEAGUE_QUERY_RESPONSE", `{"query_type":"GET_STANDINGS","data":null,"standings":null}`},
		"null context":       {TypeLeagueError, `{"error_code":"E005","context":null,"original_message_type":null,"retryable":null}`},
		"strange characters": {TypeLeagueRegisterRequest, `{"player_meta":{"display_name":"\u00c4 \"\\\/\u2028 \ud83e\udd86","contact_endpoint":"http://h/mcp","tags":["<&>"]}}`},
	} {
		t.Run(what, func(t *testing.T) {
			roundTrip(t, tt.typ, []byte(withType(tt.typ, tt.body)), Tolerant, catalog().types[tt.typ].Method != "")
		})
	}
}

// withType adds the message type to a body.
func withType(typ Type, body string) string {
	return `{"message_type":"` + string(typ) + `",` + strings.TrimPrefix(body, "{")
}

// TestChangedAfterDecoding: what a field is given since wins over what the message bore, in
// its place and beside other nulls, and a list that has another length is written as it is.
func TestChangedAfterDecoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ        Type
		body, want string
		change     func(Message)
	}{
		{TypeGameInvitation, `{"match_id":"R1M1","league_id":null,"opponent_id":"","sender":null}`, `{"league_id":"autumn_cup","match_id":"R1M1","opponent_id":"P02","sender":null}`, func(m Message) {
			m.Head().LeagueID, m.(*GameInvitation).OpponentID = cup, otter
		}},
		{TypeLeagueCompleted, `{"final_standings":[{"rank":1,"player_id":"P01","points":3,"display_name":null}]}`, `{"final_standings":[]}`, func(m Message) {
			m.(*LeagueCompleted).FinalStandings = nil
		}},
	} {
		m, err := decodeText(tt.typ, []byte(withType(tt.typ, tt.body)), Tolerant, true)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(m)
		if raw, err := Encode(m); err != nil || string(raw) != withType(tt.typ, tt.want) {
			t.Errorf("got  %s, %v\nwant %s", raw, err, tt.want)
		}
	}
}

// TestDecodeDoesNotKeepTheText: a server may reuse its buffer.
func TestDecodeDoesNotKeepTheText(t *testing.T) {
	t.Parallel()
	body := []byte(withType(TypeGameInvitation, `{"match_id":"R1M1","sender":null,"x":{"y":1},"opponent_id":"P02"}`))
	want := canonical(t, body)
	m, err := decodeText(TypeGameInvitation, body, Tolerant, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = '!'
	}
	raw, err := Encode(m)
	if err != nil || canonical(t, raw) != want {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestTables: every table fits the checker and describes its fields.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, e := range catalog().lines {
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
		got := asPackageJSON(t, m)
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
		if s.message.Head().Extra == nil {
			asPackageJSON(t, s.message)
		}
	}
	for _, r := range []Round{{}, NoRound(), RoundNumber(7), {text: `"ROUND" 1`, isText: true, is: present}} {
		ack := &Ack{Header: NewHeader("GAME_OVER_ACK", "player:\"P01\"\n", "", "é\u2028"), Status: StatusAcknowledged, RefereeID: "<&>"}
		ack.RoundID = r
		asPackageJSON(t, ack)
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
