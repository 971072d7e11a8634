package screen_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/screen"
)

// What a person at the terminal of a league reads of each event; an event without a
// line is for programs only.
func TestEventLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event manager.Event
		want  string
	}{
		{manager.Event{Kind: manager.AgentRegistered, Agent: "P01", Name: "Heron", Dialect: "contracts"}, "P01   Heron registered"},
		{manager.Event{Kind: manager.AgentRegistered, Agent: "P01", Name: "Heron", Again: true}, "P01   Heron registered again"},
		{manager.Event{Kind: manager.AgentState, Agent: "P01", Name: "Heron", State: league.Suspended}, "P01   Heron does not answer; retrying"},
		{manager.Event{Kind: manager.AgentState, Agent: "P01", Name: "Heron", State: league.Active}, ""},
		{manager.Event{Kind: manager.LeagueStarted, Total: 1}, "the league starts: 1 round"},
		{manager.Event{Kind: manager.LeagueStarted, Total: 9}, "the league starts: 9 rounds"},
		{manager.Event{Kind: manager.RoundCompleted, Round: 3, Total: 9}, "round 3 of 9 is complete"},
		{manager.Event{Kind: manager.MatchesReassigned, Round: 2, Matches: []string{"R2M1", "R2M2"}}, "round 2: [R2M1 R2M2] reassigned to another referee"},
		{manager.Event{Kind: manager.RefereeUnable, Agent: "REF01", Name: "Judge", Matches: []string{"R1M1"}, Error: "timed out"},
			"REF01 Judge cannot be made to conduct [R1M1] (timed out); they go to another referee, or wait for one to register"},
		{manager.Event{Kind: manager.RefereeQuiet, Agent: "REF01", Name: "Judge", Matches: []string{"R1M1"}, Error: "nothing after 20s; a match may take 1m40s"},
			"REF01 Judge has acknowledged [R1M1] and reports nothing after 20s; a match may take 1m40s; if it wants to be assigned matches in another form, --validation tolerant finds it"},
		{manager.Event{Kind: manager.ReportDiffers, Agent: "REF01", Matches: []string{"R1M1"}, Error: "P02 wins"}, "R1M1    the report of REF01 counts, but: P02 wins"},
		{manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueRegisterRequest, Name: "Heron", URL: "http://h/mcp", Error: "the league is full"},
			"refused: player \"Heron\" at \"http://h/mcp\": the league is full"},
		{manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeRefereeRegisterRequest, Error: "no endpoint", Tolerant: true},
			"refused: referee: no endpoint; a host with --validation tolerant accepts it"},
		{manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueQuery, Agent: "player:\x1b[2J", Error: "E012"},
			"refused: LEAGUE_QUERY of \"player:\\x1b[2J\": E012"},
		{manager.Event{Kind: manager.MatchReported, Match: &league.Match{
			ID: "R1M1", Players: [2]string{"P01", "P02"}, Choices: [2]game.Parity{game.Even, game.Odd}, Results: [2]game.Result{game.Win, game.Loss},
			Drawn: true, Number: 8, Points: [2]int{3, 0},
		}}, "R1M1    P01 even  P02 odd   drawn 8   3:0"},
		{manager.Event{Kind: manager.MatchReported, Match: &league.Match{
			ID: "R1M2", Players: [2]string{"P03", "P04"}, Choices: [2]game.Parity{game.Odd, 0}, Results: [2]game.Result{game.Win, game.TechnicalLoss}, Points: [2]int{3, 0},
		}}, "R1M2    P03 odd   P04 technical loss  no number  3:0"},
		{manager.Event{Kind: manager.MatchesProgressed}, ""},
	} {
		if got := screen.Managed(c.event, func(string) bool { return false }); got != c.want {
			t.Errorf("%s: %q, want %q", c.event.Kind, got, c.want)
		}
	}
}

func TestRefereeLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event referee.Event
		want  string
	}{
		{referee.Event{Kind: referee.Retried, Match: "R1M1", Player: "P01", Error: "connection refused"}, "R1M1    retrying P01: connection refused"},
		{referee.Event{Kind: referee.Forfeited, Match: "R1M1", Player: "P01", Fault: "no-answer"}, "R1M1    technical loss of P01: no-answer"},
		{referee.Event{Kind: referee.Forfeited, Match: "R1M1", Player: "P01", Fault: "invalid", Error: `"both"`}, "R1M1    technical loss of P01: invalid (\"both\")"},
		{referee.Event{Kind: referee.Absent, Match: "R4M1", Player: "P01", Matches: 3}, "R4M1    P01 has not answered in 3 matches in a row; it is asked once in each until it answers"},
		{referee.Event{Kind: referee.Alarm, Match: "R1M1", Error: "the report is not acknowledged"}, "R1M1    the report is not acknowledged"},
		{referee.Event{Kind: referee.Checked, Match: "R1M1", Verified: true}, ""},
	} {
		if got := screen.Refereed(c.event, screen.Reason(c.event.Fault, c.event.Error)); got != c.want {
			t.Errorf("%s: %q, want %q", c.event.Kind, got, c.want)
		}
	}
}

// The last table has a row for each player.
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
	var text bytes.Buffer
	if screen.Table(&text, standings); text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
}

// The summary leaves out whom the manager took in the end, and advises tolerance
// only to a strict host.
func TestTroubles(t *testing.T) {
	t.Parallel()
	var all screen.Troubles
	if got := all.Summary(protocol.Strict, nil); got != "" {
		t.Errorf("without troubles: %q", got)
	}
	all.Managed(manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueRegisterRequest, Name: "Early", Error: "league full"})
	all.Managed(manager.Event{Kind: manager.MessageRefused, Message: protocol.TypeLeagueRegisterRequest, Name: "Odd", Error: "no version", Tolerant: true})
	all.Managed(manager.Event{Kind: manager.AgentRegistered, Agent: "P01", Name: "Early"})
	for range 2 {
		all.Forfeited(referee.Event{Player: "P01", Fault: "timeout", Error: "no answer within 30s"})
	}
	text := all.Summary(protocol.Strict, nil)
	for _, part := range []string{`player "Odd": no version  [accepted with --validation tolerant]`, "P01 Early, in 2 matches: timeout (no answer within 30s)"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
	if strings.Contains(text, "league full") {
		t.Errorf("%q has an agent that registered later", text)
	}
	all.Forfeited(referee.Event{Player: "P02", Fault: "connect"})
	text = all.Summary(protocol.Strict, []league.Standing{{PlayerID: "P01", TechnicalLosses: 2}, {PlayerID: "P02", DisplayName: "Bob", TechnicalLosses: 4}})
	for _, part := range []string{"P02 Bob, in 1 match: connect\n", "P02 Bob, in 3 matches before this process started"} {
		if !strings.Contains(text, part) {
			t.Errorf("of a resumed league, %q does not contain %q", text, part)
		}
	}
	if strings.Contains(text, "P01 Early, in 2 matches before") {
		t.Errorf("%q counts twice", text)
	}
	const advice = "accepts messages that lack fields"
	if !strings.Contains(text, advice) || strings.Contains(all.Summary(protocol.Tolerant, nil), advice) {
		t.Error("the advice does not depend on the mode")
	}
}

// The end of a league shows the record of the manager's table, which also has the
// matches before a crash.
func TestEndAfterACrash(t *testing.T) {
	t.Parallel()
	row := func(id string, played protocol.Opt[int]) protocol.Standing {
		return protocol.Standing{Rank: 1, PlayerID: id, Played: played, Wins: protocol.Some(2), Draws: protocol.Some(1), Losses: protocol.Some(1), Points: 7}
	}
	for name, tt := range map[string]struct {
		table []protocol.Standing
		want  string
	}{
		"no table":          {nil, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"another's row":     {[]protocol.Standing{row("P02", protocol.Some(4))}, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"without matches":   {[]protocol.Standing{row("P01", protocol.Opt[int]{})}, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"late table":        {[]protocol.Standing{row("P01", protocol.Some(1))}, "2 matches: 1 won, 0 tied, 1 lost, 3 points"},
		"a table of points": {[]protocol.Standing{{PlayerID: "P01", Played: protocol.Some(3), Points: 6}}, "3 matches: 1 won, 0 tied, 1 lost, 6 points (nobody said how 1 match ended)"},
		"after a crash": {[]protocol.Standing{row("P01", protocol.Some(4))}, "4 matches: 2 won, 1 tied, 1 lost, 7 points " +
			"(of 2 of them this process has seen no result)"},
	} {
		end := player.Event{Kind: player.Completed, Player: "P01", Table: tt.table}
		end.Standing.Add(game.Win, 3)
		end.Standing.Add(game.Loss, 0)
		text := screen.Played(end)
		if first, _, _ := strings.Cut(text, "\n"); first != "the league is complete: "+tt.want {
			t.Errorf("%s: %q", name, first)
		}
	}
}
