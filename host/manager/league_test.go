package manager_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// field registers n players, who get the ids P01, P02 and so on.
func (r *rig) field(n int) []*scripted {
	r.t.Helper()
	return r.fieldOf(n, func(int, *scripted) {})
}

// fieldOf is field for players who are told what to do before they register: the last one
// starts the league.
func (r *rig) fieldOf(n int, instruct func(i int, s *scripted)) []*scripted {
	r.t.Helper()
	players := make([]*scripted, n)
	for i := range players {
		players[i] = r.agent(protocol.RolePlayer, fmt.Sprintf("player-%d", i+1))
		instruct(i, players[i])
		players[i].register()
	}
	return players
}

// whole plays a league of n players to its end, whose referee reports by a verdict.
func whole(t testing.TB, n int, v verdict, change func(*manager.Config)) (r *rig, referee *scripted, players []*scripted) {
	t.Helper()
	r = newRig(t, func(c *manager.Config) {
		if c.Players = n; change != nil {
			change(c)
		}
	})
	r.run()
	referee = r.conductor("north", v)
	players = r.field(n)
	r.finish()
	return r, referee, players
}

// table is what the rules make of fair matches in a league of n players.
func table(t testing.TB, n, legs int) []game.Row {
	t.Helper()
	schedule, err := game.NewSchedule(n, legs)
	if err != nil {
		t.Fatal(err)
	}
	want := game.NewTable(n)
	for _, p := range schedule.Matches() {
		d := fair(protocol.AnnouncedMatch{MatchID: p.ID, PlayerAID: "A", PlayerBID: "B"}).Details
		side := func(id string) game.Side {
			c, err := game.ParseParity(string(d.Choices[id]))
			if err != nil {
				t.Fatal(err)
			}
			return game.Side{Choice: c}
		}
		want.Add(p.A, p.B, game.Judge(side("A"), side("B"), d.DrawnNumber.Value()))
	}
	return want.Ranking()
}

// rows brings a table of the manager's into the form of table.
func rows(standings []league.Standing) []game.Row {
	var got []game.Row
	for _, s := range standings {
		var number int
		fmt.Sscanf(s.PlayerID, "P%d", &number)
		got = append(got, game.Row{
			Seat: number - 1, Played: s.Played, Wins: s.Wins, Ties: s.Draws, Losses: s.Losses,
			TechnicalLosses: s.TechnicalLosses, Points: s.Points,
		})
	}
	return got
}

// wantTable fails unless the table is what the rules make of fair matches.
func (r *rig) wantTable(n, legs int) {
	r.t.Helper()
	if diff := cmp.Diff(table(r.t, n, legs), rows(r.m.Standings())); diff != "" {
		r.t.Errorf("the table (-want +got):\n%s", diff)
	}
}

func TestEveryAgentGetsEverythingInOrder(t *testing.T) {
	t.Parallel()
	r, referee, players := whole(t, 4, fair, nil)
	var want []protocol.Type
	for range 3 {
		want = append(want, protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted)
	}
	want = append(want, protocol.TypeLeagueCompleted)
	for _, s := range append(players, referee) {
		var sent []protocol.Type
		for _, m := range s.inbox.all() {
			sent = append(sent, m.Head().MessageType)
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s was sent (-want +got):\n%s", s.id, diff)
		}
		key := credential.NewVerifier(s.token).ManagerToken("cup")
		for _, m := range s.inbox.all() { // the strict rules are held by the agents of these tests
			if h := m.Head(); h.AuthToken != key || h.LeagueID != "cup" || h.Sender != "league_manager" || !strings.HasPrefix(h.ConversationID, "cup-") {
				t.Errorf("%s was sent a %s with header %+v", s.id, h.MessageType, h)
			}
		}
	}
	r.wantTable(4, 1)
	select {
	case <-r.m.Done():
	default:
		t.Error("the league is over, but Done is not closed")
	}
}

// TestWhatTheMessagesOfARoundSay: beside what the rules of host/judge hold a league to (who
// meets whom, byes, tables and all that is counted), which the tests of host apply.
func TestWhatTheMessagesOfARoundSay(t *testing.T) {
	t.Parallel()
	r, referee, players := whole(t, 5, fair, nil)
	all := players[2].inbox.all()
	announced, ends := got[*protocol.RoundAnnouncement](all), got[*protocol.RoundCompleted](all)
	for i := range 5 {
		for _, m := range announced[i].Matches {
			if m.GameType != "even_odd" || m.RefereeID != referee.id || m.RefereeEndpoint != referee.url {
				t.Errorf("round %d announces %+v, want it by %s", i+1, m, referee.id)
			}
		}
		if next := ends[i].NextRoundID; i < 4 && next.Number() != i+2 || i == 4 && next != protocol.NoRound() {
			t.Errorf("after round %d comes %q", i+1, next)
		}
	}
	last, first := got[*protocol.LeagueCompleted](all)[0], r.m.Standings()[0]
	if c := last.Champion; c.PlayerID != first.PlayerID || c.DisplayName != first.DisplayName || c.Points.Value() != first.Points {
		t.Errorf("the champion is %+v, want %+v", c, first)
	}
	for i, s := range last.FinalStandings {
		if s.Rank != i+1 || s.DisplayName == "" {
			t.Errorf("a line of the final table is %+v", s)
		}
	}
}

func TestMatchKeysGoToTheAssignedRefereeOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	north, south := r.referee("north"), r.referee("south")
	players := r.field(4)
	r.begin()
	keys := make(map[string]bool)
	for _, referee := range []*scripted{north, south} {
		told := referee.announcements(1)
		if len(told.Matches) != 2 || len(referee.own(told)) != 1 {
			t.Fatalf("%s is informed of %d matches, %d of them its own", referee.id, len(told.Matches), len(referee.own(told)))
		}
		for _, m := range told.Matches {
			if m.RefereeID != referee.id {
				if m.PlayerAKeys != nil || m.PlayerBKeys != nil || m.PlayerAEndpoint != "" || m.PlayerBEndpoint != "" {
					t.Errorf("%s is told the keys or endpoints of %s, which is not its own", referee.id, m.MatchID)
				}
				continue
			}
			for _, p := range []struct {
				id, endpoint string
				keys         *credential.KeyPair
			}{{m.PlayerAID, m.PlayerAEndpoint, m.PlayerAKeys}, {m.PlayerBID, m.PlayerBEndpoint, m.PlayerBKeys}} {
				player := players[slices.IndexFunc(players, func(s *scripted) bool { return s.id == p.id })]
				want := credential.NewVerifier(player.token).MatchKeys("cup", m.MatchID, referee.id)
				if p.keys == nil || p.keys.Send != want.Send || p.keys.Expect != want.Expect || p.endpoint != player.url {
					t.Errorf("%s is told %+v at %s of %s", referee.id, p.keys, p.endpoint, p.id)
				}
				keys[want.Send], keys[want.Expect] = true, true
			}
		}
	}
	for _, p := range players {
		for _, m := range p.announcements(1).Matches {
			if m.PlayerAKeys != nil || m.PlayerBKeys != nil || m.PlayerAEndpoint != "" || m.PlayerBEndpoint != "" {
				t.Errorf("%s is told keys or endpoints: %+v", p.id, m)
			}
		}
	}
	if len(keys) != 8 {
		t.Errorf("%d different keys for 4 players, want 8", len(keys))
	}
}

func TestRefereesAreNotifiedAfterThePlayers(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee := r.referee("north")
	players := r.field(3)
	gate := make(chan struct{})
	players[1].on(protocol.TypeRoundAnnouncement, func(context.Context, *wire.Exchange) (protocol.Message, error) {
		<-gate
		return nil, nil
	})
	r.begin()
	players[0].announcements(1)
	players[2].announcements(1)
	if n := len(referee.inbox.all()); n != 0 {
		t.Errorf("the referee was sent %d messages before all players had acknowledged", n)
	}
	close(gate)
	referee.announcements(1)
	told := r.events.until(t, "the announcement", func(e manager.Event) bool { return e.Kind == manager.Notified })
	if told.Acked != 3 || len(told.Missing) != 0 || told.Round != 1 || told.Message != protocol.TypeRoundAnnouncement {
		t.Errorf("the announcement was acknowledged by %d and not by %v", told.Acked, told.Missing)
	}
}

func TestEventsTellTheLeague(t *testing.T) {
	t.Parallel()
	r, _, _ := whole(t, 2, func(m protocol.AnnouncedMatch) protocol.MatchResult { return result(m, game.Even, game.Odd, 7) }, nil)
	var told []manager.EventKind
	for _, e := range r.events.all() {
		if e.Kind != manager.AgentState {
			told = append(told, e.Kind)
		}
		if e.Kind == manager.MatchReported {
			m := *e.Match
			want := league.Match{
				Round: 1, ID: "R1M1", Seats: [2]int{0, 1}, Players: [2]string{"P01", "P02"}, RefereeID: "REF01",
				Results: [2]game.Result{game.Loss, game.Win}, Points: [2]int{0, 3}, Choices: [2]game.Parity{game.Even, game.Odd},
				Number: 7, Drawn: true,
			}
			if diff := cmp.Diff(want, m); diff != "" || m.Winner() != "P02" || m.Status() != "WIN" {
				t.Errorf("the match (-want +got):\n%s", diff)
			}
		}
	}
	want := []manager.EventKind{
		manager.AgentRegistered, manager.AgentRegistered, manager.AgentRegistered, manager.LeagueStarted,
		manager.Notified, manager.MatchReported, manager.Notified, manager.Notified, manager.RoundCompleted,
		manager.LeagueCompleted, manager.Notified,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// While the end of the league is still being told, an agent that comes back elsewhere under its
// token hears of it there. Nobody else is taken on, and when all is told nobody at all.
func TestAgentThatReturnsAtTheEndIsNotified(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players, c.Backoff = 2, game.Backoff{} })
	r.run()
	r.conductor("north", fair)
	ada, ben := r.player("player-1"), r.agent(protocol.RolePlayer, "player-2")
	reached, gate := make(chan struct{}), make(chan struct{})
	ben.on(protocol.TypeLeagueCompleted, func(context.Context, *wire.Exchange) (protocol.Message, error) {
		close(reached)
		<-gate
		return nil, nil
	})
	ben.register() // with which the league starts
	<-reached
	ada.inbox.until(t, "the end", ended)

	ada.stop()
	ada.inbox = new(watched[protocol.Message])
	ada.listen("new-home")
	application := ada.application()
	application.Head().AuthToken = ada.token
	answer, err := ada.call(application)
	if a, ok := answer.(*protocol.LeagueRegisterResponse); err != nil || !ok || a.Status != "ACCEPTED" || a.PlayerID != ada.id {
		t.Fatalf("it is answered by %+v, %v", answer, err)
	}
	ada.inbox.until(t, "the end", ended)
	wantRejected(t, r.admit("late", nil))
	wantRejected(t, r.admit("ada", func(m *protocol.LeagueRegisterRequest) { m.AuthToken = ben.token + "!" }))

	close(gate)
	r.finish()
	if answer, err := ada.call(application); err != nil {
		t.Error(err)
	} else {
		wantRejected(t, answer.(*protocol.LeagueRegisterResponse))
	}
}

func ended(m protocol.Message) bool { return m.Head().MessageType == protocol.TypeLeagueCompleted }
