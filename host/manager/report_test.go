package manager_test

import (
	"strings"
	"sync"
	"testing"

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
		{game.Odd, game.Odd, 7, [2]int{1, 1}, "DRAW"},
		{game.NoParity, game.NoParity, 0, [2]int{0, 0}, "TECHNICAL_LOSS"},
	} {
		t.Run(c.status, func(t *testing.T) {
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

// What a tolerant league takes of a referee of another program counts, and what is wrong with
// it is said; about other players it is refused, and that is said.
func TestTolerantModeTakesReportsOfOtherReferees(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change  func(p *protocol.MatchResultReport)
		differ  string // part of what the event says; empty where there is nothing to say
		refused bool
	}{
		"another league":      {change: func(p *protocol.MatchResultReport) { p.LeagueID = "league_2024" }, differ: "league_id"},
		"another status":      {change: func(p *protocol.MatchResultReport) { p.Result.Details.Status = "FINISHED" }, differ: "FINISHED"},
		"no token":            {change: func(p *protocol.MatchResultReport) { p.AuthToken = "" }},
		"a token of its own":  {change: func(p *protocol.MatchResultReport) { p.AuthToken = "tok_ref01" }},
		"a sender of its own": {change: func(p *protocol.MatchResultReport) { p.Sender = "the referee" }, differ: "sender"},
		"a stranger wins":     {change: func(p *protocol.MatchResultReport) { p.Result.Winner = protocol.Some("P09") }, refused: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r, referee, _ := running(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
			m := referee.announcements(1).Matches[0]
			report := referee.reportOf(m, 1, result(m, game.Even, game.Odd, 8))
			c.change(report)
			answer, err := referee.call(report)
			if c.refused {
				refuses(t, -32602, protocol.CodeContextMismatch)(answer, err)
				r.events.until(t, "the refusal", func(e manager.Event) bool {
					return e.Kind == manager.MessageRefused && e.Message == protocol.TypeMatchResultReport
				})
				return
			}
			if got := r.m.Results(); err != nil || len(got) != 1 || got[0].Results[0] != game.Win {
				t.Errorf("the result is %+v, %v", got, err)
			}
			r.events.until(t, "the result", func(e manager.Event) bool { return e.Kind == manager.MatchReported })
			said := r.told(manager.ReportDiffers)
			if (len(said) == 1) != (c.differ != "") || len(said) == 1 && !strings.Contains(said[0].Error, c.differ) {
				t.Errorf("said %+v, want something of %q", said, c.differ)
			}
		})
	}
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
