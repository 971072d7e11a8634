package manager_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if a, ok := answer.(*protocol.RegisterResponse); err != nil || !ok || a.Status != "ACCEPTED" || a.PlayerID != ada.id {
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
		wantRejected(t, answer.(*protocol.RegisterResponse))
	}
}

func ended(m protocol.Message) bool { return m.Head().MessageType == protocol.TypeLeagueCompleted }

func TestTheLeagueWaitsForARefereeToStartByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 2 })
	r.run()
	players := r.field(2)
	if status := ask[protocol.StatusData](players[0], players[0].query(protocol.QueryStatus)); status.Status != "waiting" {
		t.Errorf("without a referee the league is %+v", status)
	}
	r.conductor("north", fair)
	r.finish()
}

// A player cannot know the manager's token before it has read the answer to its
// registration; if an announcement overtakes that, it comes again.
func TestAnAnnouncementThatCameTooEarlyIsRepeated(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.referee("north")
	players := r.field(2)
	early := make(chan struct{}, 1)
	early <- struct{}{}
	players[1].on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		select {
		case <-early:
			return nil, protocol.Refuse(protocol.CodeTokenInvalid, in.Type, "I do not know you yet.")
		default:
			return nil, nil
		}
	})
	r.begin(0)
	players[1].announcements(1)
}
