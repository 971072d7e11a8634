package manager_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

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

	forged := one.progress(states[3])
	forged.AuthToken = two.token
	refuses(t, 5001, protocol.CodeTokenInvalid)(one.call(forged))
	if answer, err := players[0].call(players[0].progress(states[3])); err == nil {
		t.Errorf("a player's word of progress is answered %+v", answer)
	}
	if n := len(r.told(manager.MatchesProgressed)); n != 2 {
		t.Errorf("%d events of progress, want 2", n)
	}
}
