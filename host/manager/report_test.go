package manager_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

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
		"no sender":           {change: func(p *protocol.MatchResultReport) { p.Sender = "" }},
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

// A report that comes while its match goes to another referee is judged when that stands in
// the journal.
func TestAReportDoesNotOvertakeAnAssignment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, referee, _ := running(t, nil)
		m := referee.announcements(1).Matches[0]
		release, answered := r.m.Reserve(m.MatchID), make(chan error, 1)
		go func() {
			_, err := referee.call(referee.reportOf(m, 1, fair(m)))
			answered <- err
		}()
		synctest.Wait()
		if len(answered) > 0 {
			t.Errorf("the report was answered before the assignment stood: %v", <-answered)
		}
		release()
		if err := <-answered; err != nil {
			t.Error(err)
		}
		r.finish()
	})
}
