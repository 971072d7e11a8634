package manager_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// setPace sends SET_PACE as the launcher, with a token.
func (r *rig) setPace(token string, paused protocol.Opt[bool], ms protocol.Opt[int]) (*protocol.Pace, error) {
	h := protocol.NewHeader(protocol.TypeSetPace, "launcher", protocol.Timestamp(time.Now()), "pace")
	h.LeagueID, h.AuthToken = "cup", token
	answer, err := r.caller("launcher").Call(context.Background(), wire.NewPeer(r.url, dialect.Contracts), &protocol.Pace{Header: h, Paused: paused, PaceMS: ms})
	told, _ := answer.(*protocol.Pace)
	return told, err
}

// A paused league plays its round to the end and begins no other, however long that
// takes, and nobody is given up. A pace that is set counts from the current pause on.
func TestPauseBetweenRounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ends []time.Time
		paused := true
		r := newRig(t, func(c *manager.Config) {
			c.Players, c.Pace = 4, time.Minute
			seen := c.Events
			c.Events = func(e manager.Event) {
				if e.Kind == manager.RoundCompleted {
					ends = append(ends, time.Now())
				}
				seen(e)
			}
		})
		referee, open := r.held("north", fair)
		r.field(4)
		r.run()
		referee.announcements(1)
		if err := r.m.SetPace(t.Context(), &paused, nil); err != nil {
			t.Fatal(err)
		}
		open()
		time.Sleep(5 * time.Hour) // of the clock of the test
		synctest.Wait()
		shot := r.m.Snapshot()
		if !shot.Paused || shot.Pace != time.Minute || len(ends) != 1 || shot.Round != 2 || shot.MatchRound != 1 {
			t.Errorf("after %d rounds the paused league is %+v", len(ends), shot)
		}
		for _, m := range slices.Concat(shot.Players, shot.Referees) {
			if m.Life == league.Suspended {
				t.Errorf("%s was given up in the pause", m.ID)
			}
		}
		resumed := time.Now()
		paused = false
		pace := 5 * time.Second
		if err := r.m.SetPace(t.Context(), &paused, &pace); err != nil {
			t.Fatal(err)
		}
		r.finish()
		if len(ends) != 3 || !ends[1].Equal(resumed) || ends[2].Sub(ends[1]) != pace {
			t.Errorf("it goes on at %v with a pace of %v, and its rounds end at %v", resumed, pace, ends)
		}
		r.wantTable(4, 1)
	})
}

// A manager that is killed in a pause is still paused when it is started again; one that is killed
// in a round plays that to its end before. What is on the wire is what is on disk.
func TestAPauseOutlivesTheManager(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := func(c *manager.Config) { c.AdminToken, c.Players, c.DataDir = "secret", 4, dir }
	r := newRig(t, config)
	r.run()
	referee, _ := r.held("north", fair)
	players := r.field(4)
	referee.announcements(1)
	told, err := r.setPace("secret", protocol.Some(true), protocol.Some(1))
	if err != nil || !told.Paused.Value() || told.PaceMS.Value() != 1 {
		t.Fatalf("paused with the answer %+v, %v", told, err)
	}

	r, agents := r.restart(config, dir, append(players, referee)...)
	agents[4].conducts(fair)
	r.run()
	r.events.until(t, "the end of the round", func(e manager.Event) bool { return e.Kind == manager.RoundCompleted && e.Round == 1 })
	r, agents = r.restart(config, dir, agents...)
	agents[4].conducts(fair)
	r.run()
	e := r.events.until(t, "the start", func(e manager.Event) bool { return e.Kind == manager.LeagueResumed })
	if !e.Paused || e.PaceMS != 1 || e.Round != 2 {
		t.Errorf("resumed with %+v", e)
	}
	status := ask[protocol.StatusData](agents[0], agents[0].query(protocol.QueryStatus))
	if !status.Paused.Value() || status.PaceMS.Value() != 1 || status.CurrentRound.Value() != 2 {
		t.Errorf("the status is %+v", status)
	}
	if told, err = r.setPace("secret", protocol.Some(false), protocol.Opt[int]{}); err != nil || told.Paused.Value() || told.PaceMS.Value() != 1 {
		t.Fatalf("it goes on with the answer %+v, %v", told, err)
	}
	r.finish()
	for _, e := range r.events.all() {
		if e.Kind == manager.MatchReported && e.Round == 1 {
			t.Errorf("%s is reported again", e.Match.ID)
		}
	}
	r.wantTable(4, 1)
}

// Only the organiser sets the pace. A league that is paused before it starts has a
// schedule then, and begins when it goes on.
func TestWhoSetsThePace(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.AdminToken = "secret" })
	r.conductor("north", fair)
	r.field(2)
	r.run()
	var none protocol.Opt[bool]
	var unset protocol.Opt[int]
	refuses(t, 11, protocol.CodeTokenMissing)(r.setPace("", protocol.Some(true), unset))
	refuses(t, 12, protocol.CodeTokenInvalid)(r.setPace("guess", protocol.Some(true), unset))
	refuses(t, -32602, protocol.CodeMissingField)(r.setPace("secret", none, unset))
	for _, ms := range []int{-1, 24*60*60*1000 + 1, 1 << 52} {
		refuses(t, -32602, protocol.CodeInvalidFieldType)(r.setPace("secret", none, protocol.Some(ms)))
	}
	for range 2 {
		if told, err := r.setPace("secret", protocol.Some(true), unset); err != nil || !told.Paused.Value() {
			t.Fatalf("paused with the answer %+v, %v", told, err)
		}
	}
	r.start()
	e := r.events.until(t, "the start", func(e manager.Event) bool { return e.Kind == manager.LeagueStarted })
	if shot := r.m.Snapshot(); !e.Paused || shot.Round != 1 || shot.Matches[0].RefereeID != "" {
		t.Errorf("it starts with %+v and is %+v", e, shot)
	}
	if _, err := r.setPace("secret", protocol.Some(false), unset); err != nil {
		t.Fatal(err)
	}
	r.finish()
	if n := len(r.told(manager.PaceSet)); n != 2 {
		t.Errorf("%d changes are reported, want 2", n)
	}
}
