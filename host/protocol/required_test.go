package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/rawjson"
)

// What the message contracts mark REQUIRED, for the messages that they have; for START_LEAGUE,
// LEAGUE_STATUS and GET_NEXT_MATCH the contracts by sender. A name in parentheses is demanded in
// strict mode only, one without in tolerant mode too. The header stands below.
var requiredFields = map[string]string{
	"referee_register_request": "referee_meta referee_meta/display_name (referee_meta/version) (referee_meta/game_types) " +
		"referee_meta/contact_endpoint (referee_meta/max_concurrent_matches)",
	"referee_register_response": "(status) (referee_id) (auth_token) (league_id)",
	"league_register_request": "player_meta player_meta/display_name (player_meta/version) (player_meta/game_types) " +
		"player_meta/contact_endpoint",
	"league_register_response":          "(status) (player_id) (auth_token) (league_id)",
	"league_register_response_rejected": "(status)",
	"start_league":                      "(league_id)",
	"set_player_status":                 "(league_id) player_id status",
	"player_status":                     "(league_id) (player_id) (display_name) (status)",
	"set_pace":                          "(league_id)",
	"league_pace":                       "(league_id) (paused) (pace_ms)",
	"league_status":                     "(league_id) (status) (current_round) (total_rounds) (matches_completed)",
	"round_announcement": "(league_id) round_id matches matches/0/match_id (matches/0/game_type) matches/0/player_A_id " +
		"matches/0/player_B_id (matches/0/referee_endpoint)",
	"round_announcement_ack": "(status) (player_id) (round_id)",
	"league_standings_update": "(league_id) (round_id) standings standings/0/rank standings/0/player_id (standings/0/display_name) " +
		"(standings/0/played) (standings/0/wins) (standings/0/draws) (standings/0/losses) standings/0/points",
	"standings_update_ack": "(status) (player_id) (round_id)",
	"round_completed": "(league_id) round_id (matches_played) (next_round_id) " +
		"(summary/total_matches) (summary/wins) (summary/draws) (summary/technical_losses)",
	"round_completed_ack": "(status) (player_id) (round_id)",
	"league_completed": "(league_id) (total_rounds) (total_matches) (champion) champion/player_id (champion/display_name) (champion/points) " +
		"final_standings final_standings/0/rank final_standings/0/player_id (final_standings/0/display_name) final_standings/0/points " +
		"(final_standings/0/wins) (final_standings/0/draws) (final_standings/0/losses)",
	"league_completed_ack": "(status) (player_id)",
	"game_invitation":      "(league_id) (round_id) match_id (game_type) (role_in_match) (opponent_id)",
	"game_join_ack":        "(match_id) (player_id) (arrival_timestamp) (accept)",
	"game_join_ack_ack":    "(status) (match_id) (player_id)",
	"choose_parity_call": "match_id (player_id) (game_type) (context) (deadline) (context/opponent_id) (context/round_id) (context/your_standings) " +
		"(context/your_standings/wins) (context/your_standings/losses) (context/your_standings/draws) (context/your_standings/points)",
	"choose_parity_response":     "(match_id) (player_id) parity_choice",
	"choose_parity_response_ack": "(status) (match_id) (player_id)",
	"game_over": "match_id (game_type) (game_result) (game_result/status) (game_result/winner_player_id) (game_result/drawn_number) " +
		"(game_result/number_parity) (game_result/choices) (game_result/reason)",
	"game_over_ack":      "(status) (player_id) (match_id)",
	"game_error":         "(match_id) error_code (error_description) (affected_player) (action_required) (retry_count) (max_retries) (consequence)",
	"game_error_ack":     "(status) (player_id) (match_id)",
	"match_progress":     "(league_id) matches matches/0/match_id",
	"match_progress_ack": "(status)",
	"match_result_report": "(league_id) (round_id) match_id (game_type) result result/winner (result/score) (result/details) " +
		"(result/details/drawn_number) (result/details/choices)", // its status is derived where it is missing
	"match_result_ack": "(status) (match_id) (round_id)",
	"league_query":     "(league_id) query_type",
	"league_query_response": "(query_type) (standings) (current_round) data/standings (data/current_round) " +
		"data/standings/0/rank data/standings/0/player_id (data/standings/0/display_name) (data/standings/0/played) " +
		"(data/standings/0/wins) (data/standings/0/draws) (data/standings/0/losses) data/standings/0/points " +
		"standings/0/rank standings/0/player_id (standings/0/display_name) (standings/0/played) " +
		"(standings/0/wins) (standings/0/draws) (standings/0/losses) standings/0/points",
	"league_query_response_next_match": "(query_type) data/next_match data/next_match/match_id (data/next_match/round_id) " +
		"(data/next_match/opponent_id) (data/next_match/referee_endpoint)",
	"league_error": "error_code (error_description) (context)",
}

const (
	requestHeader = " (protocol) (message_type) (sender) (timestamp) (conversation_id)"
	answerHeader  = " (protocol) (message_type) (timestamp)"
)

// TestRequiredFields removes every member of the samples in turn: those whose
// absence is refused are exactly those that the documents call required.
func TestRequiredFields(t *testing.T) {
	t.Parallel()
	left := len(requiredFields)
	for _, s := range samples(t) {
		want, pinned := requiredFields[s.name]
		if !pinned {
			if !s.isVariant() {
				t.Errorf("nothing says what %s requires", s.name)
			}
			continue
		}
		left--
		raw, err := Encode(s.message)
		if err != nil {
			t.Fatal(err)
		}
		typ := s.message.Head().MessageType
		asRequest := !messages.byType[typ].Answers
		if asRequest {
			want += requestHeader
		} else {
			want += answerHeader
		}
		var got []string
		withoutEach(t, raw, func(path string, cut jsontext.Value) {
			_, strict := decodeText(typ, cut, Strict, asRequest)
			_, tolerant := decodeText(typ, cut, Tolerant, asRequest)
			switch {
			case tolerant != nil:
				got = append(got, path)
			case strict != nil:
				got = append(got, "("+path+")")
			}
			for _, err := range []error{strict, tolerant} {
				if err != nil && codeOf(err) != CodeMissingField {
					t.Errorf("%s without %s: %v", s.name, path, err)
				}
			}
		})
		if diff := cmp.Diff(sortedFields(want), sortedFields(strings.Join(got, " "))); diff != "" {
			t.Errorf("%s: %s", s.name, diff)
		}
	}
	if left != 0 {
		t.Errorf("%d names in the list belong to no sample", left)
	}
}

func sortedFields(s string) []string {
	f := strings.Fields(s)
	slices.Sort(f)
	return slices.Compact(f)
}

// withoutEach calls f with every message that lacks one member of raw. Of a
// list the first element stands for all.
func withoutEach(t *testing.T, raw jsontext.Value, f func(path string, cut jsontext.Value)) {
	t.Helper()
	switch raw.Kind() {
	case '{':
		doc := parsed(t, raw)
		for _, m := range doc {
			f(m.Name, doc.Without(m.Name).Encode())
			withoutEach(t, m.Value, func(path string, cut jsontext.Value) {
				f(m.Name+"/"+path, doc.Without().Set(m.Name, cut).Encode())
			})
		}
	case '[':
		elements := rawjson.Elements(raw)
		if len(elements) > 0 {
			withoutEach(t, elements[0], func(path string, cut jsontext.Value) {
				f("0/"+path, jsontext.Value("["+string(cut)+"]"))
			})
		}
	}
}

// TestConditionalFields: what is demanded depends on how the match ended, and
// on whether a registration was accepted.
func TestConditionalFields(t *testing.T) {
	t.Parallel()
	const ack = `"status":"ACKNOWLEDGED","round_id":1`
	over := func(status, number, parity string) string {
		return fmt.Sprintf(`"match_id":"R1M1","game_type":"even_odd","game_result":{"status":%q,"winner_player_id":null,"drawn_number":%s,"number_parity":%s,"choices":{},"reason":"r"}`, status, number, parity)
	}
	for _, tt := range []struct {
		what string
		typ  Type
		body string
		want Code
	}{
		{"a technical loss draws no number", TypeGameOver, over(StatusTechnicalLoss, "null", "null"), ""},
		{"a draw draws one", TypeGameOver, over(StatusDraw, "null", `"odd"`), CodeInvalidFieldType},
		{"and it has a parity", TypeGameOver, over(StatusDraw, "3", "null"), CodeInvalidFieldType},
		{"a draw has no winner", TypeGameOver, over(StatusDraw, "3", `"odd"`), ""},
		{"a win has one", TypeGameOver, over(StatusWin, "3", `"odd"`), CodeInvalidFieldType},
		{"numbers go to 10", TypeGameOver, over(StatusDraw, "11", `"odd"`), CodeInvalidFieldType},
		{"a referee acknowledges with its own id", "ROUND_ANNOUNCEMENT_ACK", ack + `,"referee_id":"REF01"`, ""},
		{"somebody must acknowledge", "ROUND_ANNOUNCEMENT_ACK", ack, CodeMissingField},
		{"the other word for accepted", "MATCH_RESULT_ACK", `"status":"recorded","match_id":"R1M1","round_id":1`, ""},
		{"a word of its own", "MATCH_RESULT_ACK", `"status":"OK","match_id":"R1M1","round_id":1`, CodeInvalidFieldType},
	} {
		body := withType(tt.typ, `{"protocol":"league.v2","timestamp":"2026-03-14T09:00:00Z",`+tt.body+`}`)
		if _, err := decodeText(tt.typ, []byte(body), Strict, false); codeOf(err) != tt.want {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
}

func TestQueryData(t *testing.T) {
	t.Parallel()
	h := header("LEAGUE_QUERY_RESPONSE", manager, "09:20:01", "ask")
	want := StandingsData{CurrentRound: Some(1), Standings: []Standing{{Rank: 1, PlayerID: heron, Played: Some(1), Points: 3}, {Rank: 2, PlayerID: otter, Losses: Some(0)}}}
	m, err := NewQueryResponse(h, QueryStandings, want)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Standings) != 2 || m.CurrentRound.Value() != 1 || !m.Success.Value() {
		t.Errorf("the standings are not repeated at the top level: %+v", m)
	}
	got, err := ReadData[StandingsData](m)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Opt[int]{})); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	m.Data = nil // as one of the sources has it
	if got, err = ReadData[StandingsData](m); err != nil || len(got.Standings) != 2 || got.CurrentRound.Value() != 1 {
		t.Errorf("standings at the top level only: %+v, %v", got, err)
	}
	if _, err := ReadData[ScheduleData](m); err == nil || !strings.Contains(err.Error(), "has no data") {
		t.Errorf("no data: %v", err)
	}
	m.Data = jsontext.Value(`null`)
	if _, err := ReadData[NextMatchData](m); err == nil || !strings.Contains(err.Error(), "has no data") {
		t.Errorf("null data: %v", err)
	}
	m.Data = jsontext.Value(`{"next_match":null}`)
	if d, err := ReadData[NextMatchData](m); err != nil || d.NextMatch != nil {
		t.Errorf("no next match: %+v, %v", d, err)
	}
	m.QueryType, m.Data = QueryPlayers, jsontext.Value(`{"players":"six"}`)
	if _, err := ReadData[PlayersData](m); err == nil || !strings.Contains(err.Error(), "players") {
		t.Errorf("data that do not fit: %v", err)
	}
	m.QueryType, m.Data = QueryStatus, jsontext.Value(`{"total_rounds":"two","total_matches":6.0}`)
	if d, err := ReadData[StatusData](m); err != nil || d.TotalMatches.Value() != 6 {
		t.Errorf("6.0 matches: %+v, %v", d, err)
	}
	if _, err := NewQueryResponse(h, QueryPlayers, PlayersData{Players: []PlayerInfo{{DisplayName: "\xff"}}}); err == nil {
		t.Error("a name that is no UTF-8 is written")
	}
}

// TestQueryDataRules: data are held to the table of their query type, and the
// path of what is wrong leads into them, wherever query_type stands.
func TestQueryDataRules(t *testing.T) {
	t.Parallel()
	const head = `"message_type":"LEAGUE_QUERY_RESPONSE","protocol":"league.v2","timestamp":"2026-03-14T09:20:01Z"`
	for _, body := range []string{
		`{` + head + `,"query_type":"GET_NEXT_MATCH","data":{"next_match":{"match_id":"R2M1","round_id":2,"opponent_id":"../x","referee_endpoint":"http://h/mcp"}}}`,
		`{"data":{"next_match":{"match_id":"R2M1","round_id":2,"opponent_id":"../x","referee_endpoint":"http://h/mcp"}},"query_type":"GET_NEXT_MATCH",` + head + `}`,
	} {
		_, err := decodeText("LEAGUE_QUERY_RESPONSE", []byte(body), Strict, false)
		e := refusal(t, err)
		if diff := cmp.Diff([]Violation{{"/data/next_match/opponent_id", "id"}}, e.Violations); diff != "" {
			t.Error(diff)
		}
	}
	for _, bad := range []string{`[]`, `"x"`, `7`} {
		body := `{` + head + `,"query_type":"GET_STATUS","data":` + bad + `}`
		if _, err := decodeText("LEAGUE_QUERY_RESPONSE", []byte(body), Strict, false); codeOf(err) != CodeInvalidFieldType {
			t.Errorf("data %s: %v", bad, err)
		}
	}
}
