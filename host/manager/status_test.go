package manager_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
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

func TestWhoSetsTheStatusOfAPlayer(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.AdminToken = "secret" })
	_, open := r.held("north", judged)
	ada := r.player("ada")
	r.player("ben")
	r.run()
	for token, detail := range map[string]string{"": "admin token", "guess": "admin token", ada.token: "admin token"} {
		answer, err := r.setStatus(token, "P01", "WITHDRAWN")
		if refusal := refused(t, answer, err); refusal.RPC != 11 && refusal.RPC != 12 || !strings.Contains(string(refusal.Data), detail) {
			t.Errorf("with the token %q: %s", token, refusal.Data)
		}
	}
	refuses(t, -32602, protocol.CodeInvalidFieldType)(r.setStatus("secret", "P01", "SHUTDOWN"))
	unknown := refuses(t, 5, protocol.CodePlayerNotRegistered)(r.setStatus("secret", "P09", "WITHDRAWN"))
	wantData(t, unknown, map[string]any{"player_id": "P09"})
	m := &protocol.PlayerStatus{Header: ada.header(protocol.TypeSetPlayerStatus), PlayerID: "P02", Status: "WITHDRAWN"}
	refuses(t, 12, protocol.CodeTokenInvalid)(ada.call(m))
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
	r.begin()
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
