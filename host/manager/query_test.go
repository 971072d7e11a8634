package manager_test

import (
	"strings"
	"testing"
	"time"

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

// report takes a match down as the referee of the test wants it.
func (s *scripted) report(m protocol.AnnouncedMatch, round int, res protocol.MatchResult) {
	s.r.t.Helper()
	if _, err := s.call(s.reportOf(m, round, res)); err != nil {
		s.r.t.Fatalf("report %s: %v", m.MatchID, err)
	}
}

// A question may be about one round; what the answers say is for the checks of conformance.
func TestScheduleOfARound(t *testing.T) {
	t.Parallel()
	r, referee, players := running(t, nil)
	for round, want := range map[int]int{1: 1, 2: 0} {
		q := about(players[0].query(protocol.QuerySchedule), protocol.QueryParams{RoundID: protocol.RoundNumber(round)})
		got := ask[protocol.ScheduleData](players[0], q)
		if got.Rounds == nil || len(got.Rounds) != want || got.TotalRounds.Value() != 1 || want == 1 && got.Rounds[0].Matches[0].RefereeEndpoint != referee.url {
			t.Errorf("round %d is %+v", round, got)
		}
	}
	status := ask[protocol.StatusData](players[0], players[0].query(protocol.QueryStatus))
	if want := r.m.Snapshot(); status.State != "RUNNING_LEAGUE" || status.TotalMatches.Value() != len(want.Matches) {
		t.Errorf("the status is %+v, want that of %+v", status, want)
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
