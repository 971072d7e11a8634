package manager_test

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/manager/managertest"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// setStatus sends SET_PLAYER_STATUS as the launcher, with a token.
func (r *rig) setStatus(token, player, status string) (protocol.Message, error) {
	h := protocol.NewHeader(protocol.TypeSetPlayerStatus, "launcher", protocol.Timestamp(time.Now()), "status")
	h.LeagueID, h.AuthToken = "cup", token
	return r.caller("launcher").Call(context.Background(), wire.NewPeer(r.url, dialect.Contracts), &protocol.PlayerStatus{Header: h, PlayerID: player, Status: status})
}

// sets is setStatus with the right token; it must succeed.
func (r *rig) sets(player, status string) {
	r.t.Helper()
	answer, err := r.setStatus("secret", player, status)
	if told, ok := answer.(*protocol.PlayerStatus); err != nil || !ok || told.PlayerID != player || told.Status != status || told.DisplayName == "" {
		r.t.Fatalf("%s is set to %s with the answer %+v, error %v", player, status, answer, err)
	}
}

// held is a referee that conducts nothing before the gate is open.
func (r *rig) held(name string, v verdict) (referee *scripted, open func()) {
	r.t.Helper()
	gate := make(chan struct{})
	referee = r.agent(protocol.RoleReferee, name).conducts(func(m protocol.AnnouncedMatch) protocol.MatchResult {
		<-gate
		return v(m)
	})
	open = sync.OnceFunc(func() { close(gate) })
	r.t.Cleanup(open)
	return referee.register(), open
}

// judged is fair but for players that forfeit.
func judged(m protocol.AnnouncedMatch) protocol.MatchResult {
	a, b := game.Even, game.Odd
	if slices.Contains(m.Forfeits, m.PlayerAID) {
		a = game.NoParity
	}
	if slices.Contains(m.Forfeits, m.PlayerBID) {
		b = game.NoParity
	}
	return result(m, a, b, 4)
}

func TestStatusesThatCannotBeSet(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.AdminToken = "secret" })
	_, open := r.held("north", judged)
	r.field(2)
	r.run()
	refuses(t, -32602, protocol.CodeInvalidFieldType)(r.setStatus("secret", "P01", "SHUTDOWN"))
	unknown := refuses(t, 5, protocol.CodePlayerNotRegistered)(r.setStatus("secret", "P09", "WITHDRAWN"))
	wantData(t, unknown, map[string]any{"player_id": "P09"})
	r.start()
	r.sets("P02", "WITHDRAWN")
	r.sets("P02", "WITHDRAWN")
	open()
	r.finish()
	if n := len(r.told(manager.PlayerStatusSet)); n != 1 {
		t.Errorf("%d changes are reported, want 1", n)
	}
}

// TestARegistrationIsRemovedBeforeTheStart: a player that is withdrawn before the start
// leaves its seat, its name and its id to others, after a restart, too.
func TestARegistrationIsRemovedBeforeTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := func(c *manager.Config) { c.AdminToken, c.DataDir, c.MaxPlayers = "secret", dir, 2 }
	r := newRig(t, config)
	ada, stray := r.player("ada"), r.player("stray")
	r.run()
	r.sets("P02", "WITHDRAWN")
	query := &protocol.LeagueQuery{Header: stray.header(protocol.TypeLeagueQuery), QueryType: protocol.QueryStandings}
	if answer, err := stray.call(query); err == nil {
		t.Errorf("the token of a removed player is taken: %+v", answer)
	}
	if removed := r.told(manager.PlayerStatusSet); len(removed) != 1 || removed[0].Name != "stray" || removed[0].State != league.Withdrawn {
		t.Errorf("events: %+v", removed)
	}
	stray.stop()
	r, _ = r.restart(config, dir, ada)
	if ben := r.player("stray"); ben.id != "P02" {
		t.Errorf("the seat that was freed goes to %s", ben.id)
	}
	r.conductor("north", fair)
	r.begin(0)
	r.finish()
	if table := r.m.Standings(); len(table) != 2 {
		t.Errorf("the table: %+v", table)
	}
}

// A player that is taken out forfeits from the current match on; its referee learns
// that at once, nobody sends it anything, and the table says so, after a restart, too.
func TestAPlayerThatIsTakenOut(t *testing.T) {
	t.Parallel()
	for _, status := range []league.Life{league.Withdrawn, league.Suspended} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config := func(c *manager.Config) { c.AdminToken, c.Players, c.DataDir = "secret", 4, dir }
			r := newRig(t, config)
			r.run()
			referee, _ := r.held("north", judged)
			players := r.field(4)
			referee.announcements(1)
			players[1].announcements(1)
			r.sets("P02", string(status))
			forfeits := func(m *protocol.RoundAnnouncement) (all []string) {
				for _, match := range m.Matches {
					all = append(all, match.Forfeits...)
				}
				return all
			}
			if got := forfeits(referee.announcements(2)); !slices.Equal(got, []string{"P02"}) {
				t.Errorf("its referee hears of the forfeits %v", got)
			}
			if n := len(got[*protocol.RoundAnnouncement](players[0].inbox.all())); n != 1 {
				t.Errorf("another player hears of the round %d times", n)
			}
			r2, agents := r.restart(config, dir, append(players, referee)...)
			agents[4].conducts(judged)
			r2.run()
			r2.finish()
			if all := agents[1].inbox.all(); len(all) != 0 {
				t.Errorf("it is sent %+v", all)
			}
			for _, s := range r2.m.Standings() {
				want := league.Life("")
				if s.PlayerID == "P02" {
					want = status
				}
				if s.Status != want || (s.TechnicalLosses == 3) != (want != "") {
					t.Errorf("the table says %+v", s)
				}
			}
			for _, e := range r2.events.all() {
				if e.Kind == manager.Notified && slices.Contains(e.Missing, "P02") {
					t.Errorf("%s is sent to it", e.Message)
				}
			}
			if diff := cmp.Diff(r2.m.Standings(), managertest.Table(t, dir, "cup")); diff != "" {
				t.Errorf("the journal says otherwise: %s", diff)
			}
		})
	}
}

// A suspended player that is readmitted plays again, with the token that it has.
func TestASuspendedPlayerComesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.AdminToken, c.Players = "secret", 4 })
	r.run()
	referee, open := r.held("north", fair)
	players := r.field(4)
	referee.announcements(1)
	r.sets("P02", "SUSPENDED")
	referee.announcements(2)
	r.sets("P02", "ACTIVE")
	back := referee.announcements(3)
	for _, m := range back.Matches {
		if len(m.Forfeits) > 0 {
			t.Errorf("in %s %v forfeit", m.MatchID, m.Forfeits)
		}
	}
	players[1].announcements(2) // it may not have heard of the round
	open()
	r.finish()
	for _, s := range r.m.Standings() {
		if s.Status != "" || s.TechnicalLosses > 0 {
			t.Errorf("the table says %+v", s)
		}
	}
	var said []league.Life
	for _, e := range r.told(manager.PlayerStatusSet) {
		said = append(said, e.State)
	}
	if diff := cmp.Diff([]league.Life{league.Suspended, league.Active}, said); diff != "" {
		t.Error(diff)
	}
}

// A player that answers neither the manager nor its referees is announced to them as
// absent, after three matches under any referees.
func TestAnAbsentPlayerIsAnnouncedToReferees(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 6 })
	r.run()
	gone := "P06"
	play := func(m protocol.AnnouncedMatch) protocol.MatchResult {
		a, b := game.Even, game.Odd
		if m.PlayerAID == gone {
			a = game.NoParity
		}
		if m.PlayerBID == gone {
			b = game.NoParity
		}
		return result(m, a, b, 4)
	}
	referees := []*scripted{r.conductor("north", play), r.conductor("south", play)}
	r.field(5)
	r.admit("absent", nil)
	r.finish()
	said := make(map[int][]string)
	for _, referee := range referees {
		for _, m := range got[*protocol.RoundAnnouncement](referee.inbox.all()) {
			for _, match := range referee.own(m) {
				said[m.RoundID.Number()] = append(said[m.RoundID.Number()], match.Absent...)
			}
		}
	}
	if diff := cmp.Diff(map[int][]string{1: nil, 2: nil, 3: nil, 4: {gone}, 5: {gone}}, said); diff != "" {
		t.Error(diff)
	}
}

// restart kills the manager and opens another one on its data, with its agents.
func (r *rig) restart(config func(*manager.Config), dir string, agents ...*scripted) (*rig, []*scripted) {
	r.t.Helper()
	r.kill()
	log, err := os.ReadFile(manager.JournalName(dir, "cup"))
	if err != nil {
		r.t.Fatal(err)
	}
	again := &rig{t: r.t, net: r.net}
	r.t.Cleanup(again.serving.Wait)
	again.open(config)
	back := make([]*scripted, len(agents))
	for i, old := range agents {
		old.stop()
		back[i] = again.again(old, log)
	}
	return again, back
}

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

// A league that is paused before it starts has a schedule then, and begins when it goes on.
func TestAPauseBeforeTheStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.AdminToken = "secret" })
	r.conductor("north", fair)
	r.field(2)
	r.run()
	var none protocol.Opt[bool]
	var unset protocol.Opt[int]
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
