package protocol

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

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
	m.QueryType, m.Data = QueryStatus, jsontext.Value(`{"total_matches":"six"}`)
	if _, err := ReadData[StatusData](m); err == nil || !strings.Contains(err.Error(), "total_matches") {
		t.Errorf("data that do not fit: %v", err)
	}
	m.Data = jsontext.Value(`{"total_matches":6.0}`)
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
