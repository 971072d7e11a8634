package manager_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// ask puts a question to the manager and returns the data of the answer.
func ask[T protocol.QueryData](s *scripted, q *protocol.LeagueQuery) T {
	s.r.t.Helper()
	answer, err := s.call(q)
	if err != nil {
		s.r.t.Fatal(err)
	}
	response := answer.(*protocol.LeagueQueryResponse)
	if response.QueryType != q.QueryType || !response.Success.Value() || response.LeagueID != "cup" || response.ConversationID != q.ConversationID {
		s.r.t.Errorf("the answer is %+v", response)
	}
	data, err := protocol.ReadData[T](response)
	if err != nil {
		s.r.t.Fatal(err)
	}
	return data
}

// about narrows a question.
func about(q *protocol.LeagueQuery, p protocol.QueryParams) *protocol.LeagueQuery {
	q.QueryParams = &p
	return q
}

func TestQueriesBeforeTheStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	players := r.field(2)
	ada := players[0]
	status := ask[protocol.StatusData](ada, ada.query(protocol.QueryStatus))
	if status.State != "WAITING_FOR_REGISTRATIONS" || status.Status != "waiting" || status.CurrentRound.Value() != 0 ||
		status.TotalRounds.Value() != 0 || status.TotalMatches.Value() != 0 || status.LeagueID != "cup" {
		t.Errorf("the status is %+v", status)
	}
	schedule := ask[protocol.ScheduleData](ada, ada.query(protocol.QuerySchedule))
	if schedule.Rounds == nil || len(schedule.Rounds) != 0 || schedule.TotalRounds.Value() != 0 {
		t.Errorf("the schedule is %+v", schedule)
	}
	if next := ask[protocol.NextMatchData](ada, ada.query(protocol.QueryNextMatch)); next.NextMatch != nil {
		t.Errorf("the next match is %+v", next.NextMatch)
	}
	table := ask[protocol.StandingsData](ada, ada.query(protocol.QueryStandings))
	if len(table.Standings) != 2 || table.Standings[0].PlayerID != "P01" || table.Standings[1].Rank != 2 {
		t.Errorf("the table is %+v", table)
	}
}

// report takes a match down as the referee of the test wants it.
func (s *scripted) report(m protocol.AnnouncedMatch, round int, res protocol.MatchResult) {
	s.r.t.Helper()
	if _, err := s.call(s.reportOf(m, round, res)); err != nil {
		s.r.t.Fatalf("report %s: %v", m.MatchID, err)
	}
}

func TestQueriesDuringTheLeague(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee := r.referee("north")
	players := r.field(5)
	r.begin()
	told := referee.announcements(1)
	referee.report(told.Matches[0], 1, result(told.Matches[0], game.Even, game.Odd, 4)) // A wins
	schedule, err := game.NewSchedule(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	ada := players[0]

	whole := ask[protocol.ScheduleData](ada, ada.query(protocol.QuerySchedule))
	if whole.TotalRounds.Value() != 5 || len(whole.Rounds) != 5 {
		t.Fatalf("the schedule has %d of %d rounds", len(whole.Rounds), whole.TotalRounds.Value())
	}
	for i, round := range whole.Rounds {
		bye, _ := schedule.Bye(i + 1)
		if round.RoundID.Number() != i+1 || len(round.Byes) != 1 || round.Byes[0] != game.PlayerID(bye) {
			t.Errorf("round %d is %+v", i+1, round)
		}
		for k, p := range schedule.Round(i + 1) {
			want := protocol.ScheduledMatch{
				MatchID: p.ID, GameType: "even_odd", PlayerAID: game.PlayerID(p.A), PlayerBID: game.PlayerID(p.B),
				RefereeID: "REF01", RefereeEndpoint: referee.url, Status: "PENDING", Winner: protocol.Null[string](),
			}
			switch {
			case p.ID == "R1M1":
				want.Status, want.Winner = "FINISHED", protocol.Some(game.PlayerID(p.A))
			case i == 0:
				want.Status = "RUNNING"
			}
			if diff := cmp.Diff(want, round.Matches[k], cmp.AllowUnexported(protocol.Opt[string]{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", p.ID, diff)
			}
		}
	}
	one := ask[protocol.ScheduleData](ada, about(ada.query(protocol.QuerySchedule), protocol.QueryParams{RoundID: protocol.RoundNumber(3)}))
	if len(one.Rounds) != 1 || one.Rounds[0].RoundID.Number() != 3 || one.TotalRounds.Value() != 5 {
		t.Errorf("round 3 is %+v", one)
	}
	none := ask[protocol.ScheduleData](ada, about(ada.query(protocol.QuerySchedule), protocol.QueryParams{RoundID: protocol.RoundNumber(6)}))
	if none.Rounds == nil || len(none.Rounds) != 0 {
		t.Errorf("round 6 is %+v", none)
	}

	status := ask[protocol.StatusData](ada, ada.query(protocol.QueryStatus))
	if status.State != "RUNNING_LEAGUE" || status.Status != "running" || status.CurrentRound.Value() != 1 ||
		status.TotalRounds.Value() != 5 || status.MatchesCompleted.Value() != 1 || status.TotalMatches.Value() != 10 {
		t.Errorf("the status is %+v", status)
	}
	table := ask[protocol.StandingsData](ada, ada.query(protocol.QueryStandings))
	if winner := told.Matches[0].PlayerAID; table.CurrentRound.Value() != 1 || table.Standings[0].PlayerID != winner || table.Standings[0].Points != 3 {
		t.Errorf("the table is %+v", table)
	}

	for seat, p := range players {
		next := ask[protocol.NextMatchData](p, p.query(protocol.QueryNextMatch)).NextMatch
		for _, want := range schedule.Matches() {
			if want.ID == "R1M1" || want.A != seat && want.B != seat {
				continue
			}
			role, opponent := "PLAYER_A", want.B
			if want.B == seat {
				role, opponent = "PLAYER_B", want.A
			}
			if next == nil || next.MatchID != want.ID || next.RoundID.Number() != want.Round || next.OpponentID != game.PlayerID(opponent) ||
				next.RoleInMatch != role || next.RefereeID != "REF01" || next.RefereeEndpoint != referee.url || next.GameType != "even_odd" {
				t.Errorf("the next match of %s is %+v, want %s", p.id, next, want.ID)
			}
			break
		}
	}
}

func TestWhoMayAskWhat(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.AdminToken = "secret" })
	referee, ada := r.referee("north"), r.player("ada")
	players := ask[protocol.PlayersData](ada, ada.query(protocol.QueryPlayers)).Players
	if len(players) != 1 || players[0].PlayerID != "P01" || players[0].DisplayName != "ada" || players[0].Version != "1.0.0" ||
		players[0].State != "ACTIVE" || players[0].GameTypes[0] != "even_odd" {
		t.Errorf("the players are %+v", players)
	}
	if players[0].ContactEndpoint != "" {
		t.Errorf("a player is told the endpoint %s", players[0].ContactEndpoint)
	}
	if got := ask[protocol.PlayersData](referee, referee.query(protocol.QueryPlayers)).Players[0].ContactEndpoint; got != ada.url {
		t.Errorf("a referee is told the endpoint %q", got)
	}
	launcher := protocol.NewHeader(protocol.TypeLeagueQuery, "launcher", protocol.Timestamp(time.Now()), "q")
	launcher.LeagueID, launcher.AuthToken = "cup", "secret"
	answer, err := send[*protocol.LeagueQueryResponse](r, &protocol.LeagueQuery{Header: launcher, QueryType: protocol.QueryPlayers})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := protocol.ReadData[protocol.PlayersData](answer); err != nil || data.Players[0].ContactEndpoint != ada.url {
		t.Errorf("the admin is told %+v, %v", data, err)
	}
}

func TestQueriesThatFail(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee, ada := r.referee("north"), r.player("ada")
	refuses(t, 6002, protocol.CodeInvalidQueryType)(ada.call(ada.query("GET_RICH")))
	q := ada.query(protocol.QueryStatus)
	q.LeagueID = "another"
	refuses(t, 6003, protocol.CodeLeagueNotFound)(ada.call(q))
	refuses(t, 5, protocol.CodePlayerNotRegistered)(ada.call(about(ada.query(protocol.QueryNextMatch), protocol.QueryParams{PlayerID: "P09"})))
	refuses(t, 5, protocol.CodePlayerNotRegistered)(ada.call(about(ada.query(protocol.QueryNextMatch), protocol.QueryParams{PlayerID: "REF01"})))
	refuses(t, -32602, protocol.CodeMissingField)(referee.call(referee.query(protocol.QueryNextMatch)))
	q = ada.query(protocol.QueryStatus)
	q.LeagueID = ""
	refuses(t, -32602, protocol.CodeMissingField)(ada.call(q))
	if next := ask[protocol.NextMatchData](referee, about(referee.query(protocol.QueryNextMatch), protocol.QueryParams{PlayerID: "P01"})); next.NextMatch != nil {
		t.Errorf("before the start P01 has a match: %+v", next)
	}
}

// Everybody may ask about a league, as nobody or under a name that no agent has;
// what is asked in the name of an agent needs its token.
func TestQueriesArePublic(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r, _, players := running(t, func(c *manager.Config) { c.Mode, c.AdminToken = mode, "tok-admin-secret" })
		asks := func(sender, token, kind, player string) (protocol.Message, error) {
			q := players[0].query(kind)
			q.Sender, q.AuthToken, q.QueryParams = sender, token, &protocol.QueryParams{PlayerID: player}
			return send[protocol.Message](r, q)
		}
		for _, sender := range []string{"launcher", "player:Team 7", "player:P77", "referee:REF99"} {
			for _, kind := range []string{protocol.QueryStandings, protocol.QuerySchedule, protocol.QueryStatus, protocol.QueryNextMatch, protocol.QueryPlayers} {
				answer, err := asks(sender, "", kind, "P01")
				if err != nil {
					t.Errorf("%v: %s of %s: %v", mode, kind, sender, err)
					continue
				}
				if data := string(answer.(*protocol.LeagueQueryResponse).Data); strings.Contains(data, "contact_endpoint") || strings.Contains(data, "tok-") {
					t.Errorf("%v: %s tells %s too much: %s", mode, kind, sender, data)
				}
			}
			why := refuses(t, 5, protocol.CodePlayerNotRegistered)(asks(sender, "", protocol.QueryNextMatch, "P42"))
			if !strings.Contains(string(why.Data), "P01 to P0") {
				t.Errorf("who plays is not said: %s", why.Data)
			}
		}
		for _, sender := range []string{"player:P01", "referee:REF01", "league_manager"} {
			refuses(t, 6001, protocol.CodeTokenMissing)(asks(sender, "", protocol.QueryStandings, ""))
		}
		refuses(t, 6001, protocol.CodeTokenInvalid)(asks("launcher", "guess", protocol.QueryStandings, ""))
	}
}
