package manager_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

func TestAReportIsAcknowledgedAndCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b   game.Parity
		number int
		points [2]int
		status string
	}{
		{game.Even, game.Odd, 8, [2]int{3, 0}, "WIN"},
		{game.Even, game.Odd, 7, [2]int{0, 3}, "WIN"},
		{game.Odd, game.Odd, 7, [2]int{1, 1}, "DRAW"},
		{game.Odd, game.Odd, 8, [2]int{1, 1}, "DRAW"},
		{game.NoParity, game.Odd, 0, [2]int{0, 3}, "TECHNICAL_LOSS"},
		{game.Even, game.NoParity, 0, [2]int{3, 0}, "TECHNICAL_LOSS"},
		{game.NoParity, game.NoParity, 0, [2]int{0, 0}, "TECHNICAL_LOSS"},
	} {
		t.Run(fmt.Sprintf("%v %v %d", c.a, c.b, c.number), func(t *testing.T) {
			t.Parallel()
			r, referee, _ := running(t, nil)
			m := referee.announcements(1).Matches[0]
			answer, err := referee.call(referee.reportOf(m, 1, result(m, c.a, c.b, c.number)))
			if err != nil {
				t.Fatal(err)
			}
			ack := answer.(*protocol.MatchResultAck)
			if ack.Status != "ACCEPTED" || !ack.Recorded.Value() || ack.MatchID != "R1M1" || ack.RoundID.Number() != 1 || ack.LeagueID != "cup" {
				t.Errorf("the answer is %+v", ack)
			}
			taken := r.m.Results()[0]
			if taken.Points != c.points || taken.Status() != c.status || taken.Choices != [2]game.Parity{c.a, c.b} || taken.Drawn != (c.status != "TECHNICAL_LOSS") {
				t.Errorf("the result is %+v", taken)
			}
			r.finish()
			sum := got[*protocol.RoundCompleted](referee.inbox.all())[0].Summary
			want := map[string]int{"WIN": sum.Wins.Value(), "DRAW": sum.Draws.Value(), "TECHNICAL_LOSS": sum.TechnicalLosses.Value()}[c.status]
			if want != 1 || sum.TotalMatches.Value() != 1 {
				t.Errorf("the summary is %+v", sum)
			}
		})
	}
}

func TestReportsThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	r, referee, _ := running(t, nil)
	m := referee.announcements(1).Matches[0]
	for _, c := range []struct {
		what   string
		change func(*protocol.MatchResultReport)
	}{
		{"the wrong winner", func(p *protocol.MatchResultReport) {
			p.Result.Winner, p.Result.Score = protocol.Some("P02"), map[string]int{"P01": 0, "P02": 3}
		}},
		{"no winner", func(p *protocol.MatchResultReport) { p.Result.Winner = protocol.Null[string]() }},
		{"a winner from elsewhere", func(p *protocol.MatchResultReport) { p.Result.Winner = protocol.Some("P09") }},
		{"a draw", func(p *protocol.MatchResultReport) { p.Result.Details.Status = "DRAW" }},
		{"a draw without a winner", func(p *protocol.MatchResultReport) {
			p.Result.Details.Status, p.Result.Winner, p.Result.Score = "DRAW", protocol.Null[string](), map[string]int{"P01": 1, "P02": 1}
		}},
		{"other points", func(p *protocol.MatchResultReport) { p.Result.Score = map[string]int{"P01": 2, "P02": 0} }},
		{"points for the loser", func(p *protocol.MatchResultReport) { p.Result.Score = map[string]int{"P01": 3, "P02": 1} }},
		{"points for one", func(p *protocol.MatchResultReport) { p.Result.Score = map[string]int{"P01": 3} }},
		{"points for a third", func(p *protocol.MatchResultReport) {
			p.Result.Score = map[string]int{"P01": 3, "P02": 0, "P03": 0}
		}},
		{"points for a stranger", func(p *protocol.MatchResultReport) { p.Result.Score = map[string]int{"P01": 3, "P03": 0} }},
		{"the wrong parity", func(p *protocol.MatchResultReport) { p.Result.Details.NumberParity = protocol.Some("odd") }},
		{"a choice that is missing", func(p *protocol.MatchResultReport) { delete(p.Result.Details.Choices, "P02") }},
		{"a choice of a stranger", func(p *protocol.MatchResultReport) { p.Result.Details.Choices["P03"] = "odd" }},
		{"the winner at fault", func(p *protocol.MatchResultReport) {
			p.Result.Details.Status, p.Result.Details.TechnicalLossPlayerIDs = "TECHNICAL_LOSS", []string{"P01"}
		}},
		{"a stranger at fault", func(p *protocol.MatchResultReport) {
			p.Result.Details.Status, p.Result.Details.TechnicalLossPlayerIDs = "TECHNICAL_LOSS", []string{"P03"}
		}},
		{"one at fault and no winner", func(p *protocol.MatchResultReport) {
			p.Result = result(m, game.NoParity, game.NoParity, 0)
			p.Result.Details.TechnicalLossPlayerIDs = []string{"P01"}
		}},
		{"another round", func(p *protocol.MatchResultReport) { p.RoundID = protocol.RoundNumber(2) }},
		{"another league", func(p *protocol.MatchResultReport) { p.LeagueID = "another" }},
		{"another game", func(p *protocol.MatchResultReport) { p.GameType = "chess" }},
	} {
		report := referee.reportOf(m, 1, result(m, game.Even, game.Odd, 8)) // P01 wins
		c.change(report)
		answer, err := referee.call(report)
		t.Run(c.what, func(t *testing.T) { refuses(t, -32602, protocol.CodeContextMismatch)(answer, err) })
	}
	for _, c := range []struct {
		what   string
		code   protocol.Code
		change func(*protocol.MatchResultReport)
	}{
		{"a number out of range", protocol.CodeInvalidFieldType, func(p *protocol.MatchResultReport) { p.Result.Details.DrawnNumber = protocol.Some(12) }},
		{"a choice that is none", protocol.CodeInvalidFieldType, func(p *protocol.MatchResultReport) { p.Result.Details.Choices["P02"] = "ODD" }},
		{"no details", protocol.CodeMissingField, func(p *protocol.MatchResultReport) { p.Result.Details = nil }},
		{"no round", protocol.CodeMissingField, func(p *protocol.MatchResultReport) { p.RoundID = protocol.Round{} }},
		{"a bad time", protocol.CodeInvalidTimestamp, func(p *protocol.MatchResultReport) { p.Timestamp = "2026-03-14T09:00:00+02:00" }},
		{"a bad version", protocol.CodeVersionMismatch, func(p *protocol.MatchResultReport) { p.Protocol = "league.v1" }},
	} {
		report := referee.reportOf(m, 1, result(m, game.Even, game.Odd, 8))
		c.change(report)
		answer, err := referee.call(report)
		t.Run(c.what, func(t *testing.T) { refuses(t, -32602, c.code)(answer, err) })
	}
	if n := len(r.m.Results()); n != 0 {
		t.Errorf("%d results", n)
	}
	referee.report(m, 1, result(m, game.Even, game.Odd, 8))
}

func TestAnotherDrawHasOtherNumbers(t *testing.T) {
	t.Parallel()
	draw, err := game.UniformDraw(0, 20)
	if err != nil {
		t.Fatal(err)
	}
	r, referee, _ := running(t, func(c *manager.Config) { c.Draw, c.Mode = draw, protocol.Tolerant })
	m := referee.announcements(1).Matches[0]
	referee.report(m, 1, result(m, game.Even, game.Odd, 0))
	if got := r.m.Results()[0]; !got.Drawn || got.Number != 0 {
		t.Errorf("the result is %+v", got)
	}
}

func TestTolerantModeTakesReportsAtTheirWord(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		res  protocol.MatchResult
		want string
	}{
		"a winner and a number":         {protocol.MatchResult{Winner: protocol.Some("P02"), Details: &protocol.ResultDetails{DrawnNumber: protocol.Some(4)}}, "WIN"},
		"a draw":                        {protocol.MatchResult{Winner: protocol.Some("DRAW"), Score: map[string]int{"P01": 1, "P02": 1}}, "DRAW"},
		"a winner only":                 {protocol.MatchResult{Winner: protocol.Some("P02")}, "WIN"},
		"a winner who alone has chosen": {protocol.MatchResult{Winner: protocol.Some("P02"), Details: &protocol.ResultDetails{Choices: map[string]protocol.Choice{"P02": protocol.Odd}}}, "TECHNICAL_LOSS"},
		"no points":                     {protocol.MatchResult{Winner: protocol.Null[string](), Score: map[string]int{"P01": 0, "P02": 0}}, "TECHNICAL_LOSS"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r, referee, _ := running(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
			m := referee.announcements(1).Matches[0]
			referee.report(m, 1, c.res)
			if got := r.m.Results()[0]; got.Status() != c.want {
				t.Errorf("the result is %s: %+v", got.Status(), got)
			}
		})
	}
}

// TestTolerantModeTakesReportsOfOtherReferees: a report of the referee of the
// match about its players counts, whatever else it says, and what is wrong with
// it is reported once. About other players it is refused, and that is reported.
func TestTolerantModeTakesReportsOfOtherReferees(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change func(p *protocol.MatchResultReport)
		differ string // part of what the event says; empty where there is nothing to say
		winner string
	}{
		"another league": {func(p *protocol.MatchResultReport) { p.LeagueID = "league_2024" }, "league_id", "P01"},
		"another round":  {func(p *protocol.MatchResultReport) { p.RoundID = protocol.RoundNumber(7) }, "round_id", "P01"},
		"another game":   {func(p *protocol.MatchResultReport) { p.GameType = "parity" }, "game_type", "P01"},
		"other points":   {func(p *protocol.MatchResultReport) { p.Result.Score = map[string]int{"P01": 10, "P02": 2} }, "points", "P01"},
		"a number out of range": {func(p *protocol.MatchResultReport) {
			p.Result.Details.DrawnNumber, p.Result.Details.Status = protocol.Some(98), ""
		}, "98", "P01"},
		"another status":      {func(p *protocol.MatchResultReport) { p.Result.Details.Status = "FINISHED" }, "FINISHED", "P01"},
		"another winner":      {func(p *protocol.MatchResultReport) { p.Result.Winner, p.Result.Score = protocol.Some("P02"), nil }, "by the rules", "P02"},
		"no token":            {func(p *protocol.MatchResultReport) { p.AuthToken = "" }, "", "P01"},
		"a token of its own":  {func(p *protocol.MatchResultReport) { p.AuthToken = "tok_ref01" }, "", "P01"},
		"a sender of its own": {func(p *protocol.MatchResultReport) { p.Sender = "the referee" }, "sender", "P01"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r, referee, _ := running(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
			m := referee.announcements(1).Matches[0]
			report := referee.reportOf(m, 1, result(m, game.Even, game.Odd, 8))
			c.change(report)
			if _, err := referee.call(report); err != nil {
				t.Fatal(err)
			}
			if got := r.m.Results(); len(got) != 1 || got[0].Results[0] == game.Win != (c.winner == "P01") {
				t.Errorf("the result is %+v", got)
			} else if what == "a number out of range" && (got[0].Drawn || got[0].Choices != [2]game.Parity{game.Even, game.Odd}) {
				t.Errorf("the choices of %+v are lost", got[0])
			}
			r.events.until(t, "the result", func(e manager.Event) bool { return e.Kind == manager.MatchReported })
			var said []string
			for _, e := range r.told(manager.ReportDiffers) {
				said = append(said, e.Error)
			}
			if (len(said) == 1) != (c.differ != "") || len(said) == 1 && !strings.Contains(said[0], c.differ) {
				t.Errorf("said %q, want something of %q", said, c.differ)
			}
		})
	}
	t.Run("a stranger wins", func(t *testing.T) {
		t.Parallel()
		r, referee, _ := running(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
		m := referee.announcements(1).Matches[0]
		res := result(m, game.Even, game.Odd, 8)
		res.Winner = protocol.Some("P09")
		refuses(t, -32602, protocol.CodeContextMismatch)(referee.call(referee.reportOf(m, 1, res)))
		r.events.until(t, "the refusal", func(e manager.Event) bool {
			return e.Kind == manager.MessageRefused && e.Message == protocol.TypeMatchResultReport
		})
	})
}

func TestOnlyTheAssignedRefereeReports(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	north, south := r.referee("north"), r.referee("south")
	r.field(4)
	early := protocol.AnnouncedMatch{MatchID: "R1M1", PlayerAID: "P01", PlayerBID: "P04"}
	refuses(t, 5002, protocol.CodeMatchNotFound)(north.call(north.reportOf(early, 1, fair(early)))) // before the start
	r.begin()
	mine := north.own(north.announcements(1))[0]
	refusal := refuses(t, 5002, protocol.CodeMatchNotFound)(south.call(south.reportOf(mine, 1, fair(mine))))
	wantData(t, refusal, map[string]any{"match_id": mine.MatchID})
	for _, id := range []string{"R2M1", "R9M1", "R1M3", "R01M1", "nonsense"} {
		m := mine
		m.MatchID = id
		report := north.reportOf(m, 1, fair(mine))
		if id == "R2M1" {
			report.RoundID = protocol.RoundNumber(2) // its round has not come
		}
		refuses(t, 5002, protocol.CodeMatchNotFound)(north.call(report))
	}
	if n := len(r.m.Results()); n != 0 {
		t.Errorf("%d results", n)
	}
}

func TestASecondReport(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Date(2026, 3, 14, 9, 10, 23, 0, time.UTC)}
	r := newRig(t, func(c *manager.Config) { c.Now = now.time })
	referee := r.referee("north")
	r.field(4)
	r.begin()
	told := referee.announcements(1)
	m, other := told.Matches[0], told.Matches[1]
	referee.report(m, 1, result(m, game.Even, game.Odd, 8))
	now.advance(time.Minute)
	for _, c := range []struct {
		res  protocol.MatchResult
		same bool
	}{
		{result(m, game.Even, game.Odd, 8), true},
		{result(m, game.Even, game.Odd, 10), false}, // the same winner by another number
		{result(m, game.Even, game.Odd, 7), false},
		{result(m, game.NoParity, game.Odd, 0), false},
	} {
		refusal := refuses(t, 5003, protocol.CodeDuplicateReport)(referee.call(referee.reportOf(m, 1, c.res)))
		wantData(t, refusal, map[string]any{"match_id": m.MatchID, "same_result": c.same, "previous_report_time": "2026-03-14T09:10:23Z"})
		if refusal.Retryable {
			t.Error("a second report may be repeated")
		}
	}
	referee.report(other, 1, result(other, game.Odd, game.Odd, 8))
	referee.announcements(2)
	if n := len(r.m.Results()); n != 2 {
		t.Errorf("%d results of 2 matches", n)
	}
	for _, s := range r.m.Standings() {
		if s.Played != 1 {
			t.Errorf("%s has played %d matches", s.PlayerID, s.Played)
		}
	}
	// A result of a round that is over is still told apart from a new one.
	refuses(t, 5003, protocol.CodeDuplicateReport)(referee.call(referee.reportOf(m, 1, result(m, game.Even, game.Odd, 8))))
}

func TestOneOfManyReportsAtOnceCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.DataDir = t.TempDir() })
	referee := r.referee("north")
	r.field(4)
	r.begin()
	m := referee.announcements(1).Matches[0]
	outcomes := make(chan error, 20)
	var all sync.WaitGroup
	for i := range cap(outcomes) {
		all.Go(func() {
			_, err := referee.call(referee.reportOf(m, 1, result(m, game.Even, game.Odd, 1+i%2)))
			outcomes <- err
		})
	}
	all.Wait()
	close(outcomes)
	accepted := 0
	for err := range outcomes {
		if err == nil {
			accepted++
			continue
		}
		refuses(t, 5003, protocol.CodeDuplicateReport)(nil, err)
	}
	if accepted != 1 || r.m.Standings()[0].Points != 3 || len(r.m.Results()) != 1 {
		t.Errorf("%d reports were accepted; the table is %+v", accepted, r.m.Standings())
	}
}
