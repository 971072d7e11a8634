package manager_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
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
	r.begin(4)
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

// judges has a player say with every end of a round whether it could verify its number.
func (s *scripted) judges(verified bool) {
	s.says(s.known, func(ack *protocol.Ack, _ int) { ack.DrawVerified = protocol.Some(verified) })
}

// TestDrawsAreCountedFromWhatPlayersSay: P01 verifies its numbers, P03 cannot, and
// P02 and P04 say nothing. A referee that says it counts for nothing, and a match without a
// number is no draw. The counts survive the manager.
func TestDrawsAreCountedFromWhatPlayersSay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	configure := func(c *manager.Config) { c.Players, c.Legs, c.DataDir = 4, 2, dir }
	r := newRig(t, configure)
	r.run()
	referee := r.conductor("north", func(m protocol.AnnouncedMatch) protocol.MatchResult {
		if m.MatchID == "R6M2" {
			return result(m, game.Even, game.NoParity, 0)
		}
		return fair(m)
	})
	referee.judges(false)
	r.fieldOf(4, func(i int, s *scripted) {
		if i%2 == 0 {
			s.judges(i == 0)
		}
	})
	r.finish()
	var want league.Draws
	for _, m := range r.m.Results() {
		switch {
		case !m.Drawn:
			continue
		case slices.Contains(m.Players[:], "P03"):
			want.Unverified++
		case slices.Contains(m.Players[:], "P01"):
			want.Verified++
		}
		want.Drawn++
	}
	d := r.m.Draws()
	if d != want || d.Drawn != 11 || d.Unchecked() == 0 {
		t.Errorf("%+v, want %+v", d, want)
	}
	r.kill()
	r.open(configure)
	if after := r.m.Draws(); after != d {
		t.Errorf("after a restart %+v, want %+v", after, d)
	}
}

// TestPlayersSayWhatBecameOfTheirStrategy: a player that names another version of its
// strategy than before has edited it, and why it failed is known once a round, bounded. What
// is no name of a version counts for nothing, nor does what a player says for another one.
func TestPlayersSayWhatBecameOfTheirStrategy(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 4 })
	r.run()
	r.conductor("north", fair)
	versions := [][]string{{"aaaa", "bbbb", "bbbb"}, {"", "cccc", "aaaa"}, {"dddd", "<img>", strings.Repeat("d", 65)}, {"eeee", "ffff", "eeee"}}
	failures := [][]string{{"mine.lua:2: not ready", "", "mine.lua:7: nil"}, {"", strings.Repeat("x", 400), ""}, {"", "", ""}, {"a", "b", "c"}}
	r.fieldOf(4, func(i int, s *scripted) {
		id := s.known
		if i == 3 {
			id = func() string { return "P01" } // in the name of another
		}
		s.says(id, func(ack *protocol.Ack, round int) {
			ack.StrategyVersion, ack.StrategyError = versions[i][round-1], failures[i][round-1]
		})
	})
	r.finish()
	for kind, want := range map[manager.EventKind][]string{
		manager.StrategyEdited: {"P01 2 bbbb", "P02 3 aaaa"},
		manager.StrategyFailed: {"P01 1 mine.lua:2: not ready", "P01 3 mine.lua:7: nil", "P02 2 " + strings.Repeat("x", 300) + "..."},
	} {
		var got []string
		for _, e := range r.told(kind) {
			got = append(got, fmt.Sprint(e.Agent, " ", e.Round, " ", e.Version, e.Error))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: heard of %q, want %q", kind, got, want)
		}
	}
}

// says has an agent acknowledge the end of each round for an id, with what fill adds.
func (s *scripted) says(id func() string, fill func(ack *protocol.Ack, round int)) {
	s.on(protocol.TypeRoundCompleted, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		h := in.Header
		ack := &protocol.Ack{
			Header: protocol.NewHeader(in.Type.Answer(), protocol.Sender(s.role, s.known()), h.Timestamp, h.ConversationID),
			Status: protocol.StatusAcknowledged, PlayerID: id(),
		}
		fill(ack, h.RoundID.Number())
		return ack, nil
	})
}

// progress is a message about matches.
func (s *scripted) progress(matches ...protocol.MatchState) *protocol.MatchProgress {
	return &protocol.MatchProgress{Header: s.header(protocol.TypeMatchProgress), Matches: matches}
}

// keyed registers a referee as those of this program do.
func (r *rig) keyed(name string) *scripted {
	r.t.Helper()
	s := r.agent(protocol.RoleReferee, name)
	a := s.application().(*protocol.RefereeRegisterRequest)
	a.Meta.MatchKeys = protocol.Some(true)
	answer, err := s.call(a)
	if err != nil {
		r.t.Fatal(err)
	}
	s.accepted(answer)
	return s
}

// TestProgressIsAskedOfOwnReferees: only with Config.Progress, and only of referees that
// sign with match keys: others may be strict about members that they do not know.
func TestProgressIsAskedOfOwnReferees(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{false, true} {
		r := newRig(t, func(c *manager.Config) { c.Progress = wanted })
		r.run()
		own, foreign := r.keyed("own"), r.referee("foreign")
		players := r.field(4)
		r.start()
		for s, want := range map[*scripted]bool{own: wanted, foreign: false, players[0]: false} {
			if got, said := s.announcements(1).ReportProgress.Get(); got != want || said != want {
				t.Errorf("progress wanted %v: %s is told %v, %v", wanted, s.name, got, said)
			}
		}
		r.kill()
	}
}

// TestProgressIsHandedOn: what a referee says of its own matches of the round that are not
// over, and of nothing else. Others who say it are refused.
func TestProgressIsHandedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Progress = true })
	r.run()
	one, two := r.keyed("one"), r.keyed("two")
	players := r.field(4)
	early, err := one.call(one.progress(protocol.MatchState{MatchID: "R1M1", Asked: []string{"P01"}}))
	if err != nil || early.Head().MessageType != "MATCH_PROGRESS_ACK" {
		t.Errorf("before the start: %+v, %v", early, err)
	}
	r.start()
	announced := one.announcements(1)
	two.announcements(1)
	mine, others := one.own(announced)[0], two.own(announced)[0]
	before := time.Now()
	states := []protocol.MatchState{
		{MatchID: others.MatchID, Asked: []string{others.PlayerAID}},
		{MatchID: "R2M1", Asked: []string{"P01", "P02", "P03", "P04"}},
		{MatchID: "R9M9"},
		{
			MatchID: mine.MatchID, Asked: []string{mine.PlayerAID, mine.PlayerBID, others.PlayerAID}, Chosen: []string{mine.PlayerBID},
			Retried: []string{mine.PlayerAID}, TimeLeftMS: protocol.Some(20_000), Faults: map[string]string{mine.PlayerAID: "late", "P99": "?"},
		},
	}
	if _, err := one.call(one.progress(states...)); err != nil {
		t.Fatal(err)
	}
	e := r.events.until(t, "the progress", func(e manager.Event) bool { return e.Kind == manager.MatchesProgressed })
	if len(e.Progress) != 1 || e.Agent != one.id || e.Round != 1 {
		t.Fatalf("%+v, want the match of %s alone", e, one.id)
	}
	got := e.Progress[0]
	if left := got.Deadline.Sub(before); left < 20*time.Second || left > 20*time.Second+patience {
		t.Errorf("the deadline is in %v, want 20s", left)
	}
	got.Deadline = time.Time{}
	want := manager.Progress{
		Match: mine.MatchID, Players: [2]string{mine.PlayerAID, mine.PlayerBID},
		Asked: [2]bool{true, true}, Chosen: [2]bool{false, true}, Retried: [2]bool{true, false}, Faults: [2]string{"late", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the progress differs (-want +got):\n%s", diff)
	}

	if _, err := one.call(one.reportOf(mine, 1, fair(mine))); err != nil {
		t.Fatal(err)
	}
	overdue := protocol.MatchState{MatchID: mine.MatchID, Asked: []string{mine.PlayerAID}, TimeLeftMS: protocol.Some(1 << 50)}
	if _, err := one.call(one.progress(overdue)); err != nil { // it is over
		t.Fatal(err)
	}
	overdue.Faults = map[string]string{mine.PlayerAID: "the reason comes after the result"}
	if _, err := one.call(one.progress(overdue)); err != nil {
		t.Fatal(err)
	}
	last := r.events.until(t, "the reason", func(e manager.Event) bool {
		return e.Kind == manager.MatchesProgressed && e.Progress[0].Faults[0] != "late"
	})
	if !last.Progress[0].Deadline.IsZero() {
		t.Errorf("a deadline in 35,000 years is taken: %+v", last)
	}

	if answer, err := players[0].call(players[0].progress(states[3])); err == nil {
		t.Errorf("a player's word of progress is answered %+v", answer)
	}
	if n := len(r.told(manager.MatchesProgressed)); n != 2 {
		t.Errorf("%d events of progress, want 2", n)
	}
}
