package protocol

import (
	"strings"
	"testing"
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
