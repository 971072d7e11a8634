package leagues

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// What a person at the terminal of a league reads of each event; an event without a
// line is for programs only.
func TestEventLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event manager.Event
		want  string
	}{
		{manager.Event{Kind: manager.AgentRegistered, Agent: "P01", Name: "Heron", Dialect: "contracts"}, "P01   Heron registered\n"},
		{manager.Event{Kind: manager.AgentRegistered, Agent: "P01", Name: "Heron", Again: true}, "P01   Heron registered again\n"},
		{manager.Event{Kind: manager.AgentState, Agent: "P01", Name: "Heron", State: league.Suspended}, "P01   Heron does not answer; retrying\n"},
		{manager.Event{Kind: manager.AgentState, Agent: "P01", Name: "Heron", State: league.Active}, ""},
		{manager.Event{Kind: manager.LeagueStarted, Total: 1}, "the league starts: 1 round\n"},
		{manager.Event{Kind: manager.LeagueStarted, Total: 9}, "the league starts: 9 rounds\n"},
		{manager.Event{Kind: manager.RoundCompleted, Round: 3, Total: 9}, "round 3 of 9 is complete\n"},
		{manager.Event{Kind: manager.MatchesReassigned, Round: 2, Matches: []string{"R2M1", "R2M2"}}, "round 2: [R2M1 R2M2] reassigned to another referee\n"},
		{manager.Event{Kind: manager.RefereeUnable, Agent: "REF01", Name: "Judge", Matches: []string{"R1M1"}, Error: "timed out"},
			"REF01 Judge cannot be made to conduct [R1M1] (timed out); they go to another referee, or wait for one to register\n"},
		{manager.Event{Kind: manager.RefereeQuiet, Agent: "REF01", Name: "Judge", Matches: []string{"R1M1"}, Error: "nothing after 20s; a match may take 1m40s"},
			"REF01 Judge has acknowledged [R1M1] and reports nothing after 20s; a match may take 1m40s; if it wants to be assigned matches in another form, --validation tolerant finds it\n"},
		{manager.Event{Kind: manager.ReportDiffers, Agent: "REF01", Matches: []string{"R1M1"}, Error: "P02 wins"}, "R1M1    the report of REF01 counts, but: P02 wins\n"},
		{manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueRegisterRequest, Name: "Heron", URL: "http://h/mcp", Error: "the league is full"},
			"refused: player \"Heron\" at \"http://h/mcp\": the league is full\n"},
		{manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeRefereeRegisterRequest, Error: "no endpoint", Tolerant: true},
			"refused: referee: no endpoint; a host with --validation tolerant accepts it\n"},
		{manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueQuery, Agent: "player:\x1b[2J", Error: "E012"},
			"refused: LEAGUE_QUERY of \"player:\\x1b[2J\": E012\n"},
		{manager.Event{Kind: manager.MatchReported, Match: &league.Match{
			ID: "R1M1", Players: [2]string{"P01", "P02"}, Choices: [2]game.Parity{game.Even, game.Odd}, Results: [2]game.Result{game.Win, game.Loss},
			Drawn: true, Number: 8, Points: [2]int{3, 0},
		}}, "R1M1    P01 even  P02 odd   drawn 8   3:0\n"},
		{manager.Event{Kind: manager.MatchReported, Match: &league.Match{
			ID: "R1M2", Players: [2]string{"P03", "P04"}, Choices: [2]game.Parity{game.Odd, 0}, Results: [2]game.Result{game.Win, game.TechnicalLoss}, Points: [2]int{3, 0},
		}}, "R1M2    P03 odd   P04 technical loss  no number  3:0\n"},
		{manager.Event{Kind: manager.MatchesProgressed}, ""},
	} {
		var text, lines bytes.Buffer
		(&live{out: &eventWriter{w: &text}}).managed(c.event)
		if text.String() != c.want {
			t.Errorf("%s: %q, want %q", c.event.Kind, text.String(), c.want)
		}
		(&live{out: &eventWriter{w: &lines, json: true}}).managed(c.event)
		if c.event.Kind == manager.MatchesProgressed {
			continue // neither people nor programs read it
		}
		var got struct{ Event string }
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil || got.Event != string(c.event.Kind) || strings.Count(lines.String(), "\n") != 1 {
			t.Errorf("%s as JSON: %v, %q", c.event.Kind, err, lines.String())
		}
	}
}

func TestRefereeLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event referee.Event
		want  string
	}{
		{referee.Event{Kind: referee.Retried, Match: "R1M1", Player: "P01", Error: "connection refused"}, "R1M1    retrying P01: connection refused\n"},
		{referee.Event{Kind: referee.Forfeited, Match: "R1M1", Player: "P01", Fault: "no-answer"}, "R1M1    technical loss of P01: no-answer\n"},
		{referee.Event{Kind: referee.Forfeited, Match: "R1M1", Player: "P01", Fault: "invalid", Error: `"both"`}, "R1M1    technical loss of P01: invalid (\"both\")\n"},
		{referee.Event{Kind: referee.Absent, Match: "R4M1", Player: "P01", Matches: 3}, "R4M1    P01 has not answered in 3 matches in a row; it is asked once in each until it answers\n"},
		{referee.Event{Kind: referee.Alarm, Match: "R1M1", Error: "the report is not acknowledged"}, "R1M1    the report is not acknowledged\n"},
		{referee.Event{Kind: referee.Checked, Match: "R1M1", Verified: true}, ""},
	} {
		var text bytes.Buffer
		(&live{out: &eventWriter{w: &text}}).conducted(c.event)
		if text.String() != c.want {
			t.Errorf("%s: %q, want %q", c.event.Kind, text.String(), c.want)
		}
	}
}

// The last table has a row for each player and stands for nothing in JSON, which has
// the event.
func TestLastTable(t *testing.T) {
	t.Parallel()
	standings := []league.Standing{
		{Rank: 1, PlayerID: "P02", DisplayName: "Otter", Played: 2, Wins: 1, Draws: 1, Points: 4},
		{Rank: 2, PlayerID: "P01", DisplayName: "a longer name", Played: 2, Draws: 1, Losses: 1, TechnicalLosses: 1, Points: 1},
	}
	want := "" +
		"\n  place  player           name  played  won  tied  lost  technical  points\n" +
		"      1     P02          Otter       2    1     1     0          0       4\n" +
		"      2     P01  a longer name       2    0     1     1          1       1\n"
	var text, lines bytes.Buffer
	(&eventWriter{w: &text}).table(standings)
	(&eventWriter{w: &lines, json: true}).table(standings)
	if text.String() != want || lines.Len() > 0 {
		t.Errorf("got\n%swant\n%s; in JSON %q", text.String(), want, lines.String())
	}
}
