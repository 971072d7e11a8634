package manager_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
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
	for i, s := range []*scripted{ada, referee} { // ada first: a player is active once it has spoken
		want := []string{"", ada.url}[i]
		if got := ask[protocol.PlayersData](s, s.query(protocol.QueryPlayers)).Players[0]; got.ContactEndpoint != want || got.State != "ACTIVE" || got.Version != "1.0.0" {
			t.Errorf("%s is told %+v", s.name, got)
		}
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

// running starts a league of two players whose referee waits to be told what to report.
func running(t testing.TB, change func(*manager.Config)) (r *rig, referee *scripted, players []*scripted) {
	t.Helper()
	r = newRig(t, change)
	referee = r.referee("north")
	players = r.begin(2)
	referee.announcements(1)
	return r, referee, players
}

// What neither the checks of conformance nor the matrix of host sends: tokens and senders that
// are nearly right. A refusal names what was asked, and shows no token.
func TestTokensThatAreNearlyRight(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r, referee, players := running(t, func(c *manager.Config) { c.Mode = mode })
		token := players[0].token
		for sender, with := range map[string]string{
			"player:P01": token[:len(token)-1], "player:P02": token[:len(token)-1] + "!", "player:P77": token, "referee:P01": token, "league_manager": token, "ada": token,
		} {
			q := players[0].query(protocol.QueryStatus)
			q.Sender, q.AuthToken = sender, with
			refusal := refuses(t, 6001, protocol.CodeTokenInvalid)(send[protocol.Message](r, q))
			if data := string(refusal.Data); strings.Contains(data, with) || !strings.Contains(data, `"action":"LEAGUE_QUERY"`) {
				t.Errorf("%v: the refusal of %s is %s", mode, sender, data)
			}
		}
		m := referee.announcements(1).Matches[0]
		if answer, err := players[0].call(players[0].reportOf(m, 1, fair(m))); refused(t, answer, err) == nil || len(r.m.Results()) != 0 {
			t.Error("a player reports a result in its own name")
		}
	}
}

func TestMessagesThatAreNotForAManager(t *testing.T) {
	t.Parallel()
	_, _, players := running(t, nil)
	for _, kind := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeRoundAnnouncement, protocol.TypeGameError, protocol.TypeLeagueCompleted} {
		m := protocol.New(kind)
		*m.Head() = players[0].header(kind)
		refuses(t, -32601, protocol.CodeUnknownMessageType)(players[0].call(m))
	}
}

func TestAStoppedManagerAsksToTryLater(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", t.TempDir()} {
		r := newRig(t, func(c *manager.Config) { c.DataDir = dir })
		r.m.Close()
		answer, err := r.signup("ada", nil)
		if err == nil || !wire.Retryable(err) {
			t.Errorf("the answer is %+v, %v", answer, err)
		}
		if n := len(r.m.Standings()); n != 0 {
			t.Errorf("%d players are registered", n)
		}
	}
}

// ask has the manager handle a request as it stands.
func (r *rig) ask(method, params string) jsonrpc.Response {
	return r.m.Dispatcher().Handle(context.Background(), &jsonrpc.Request{
		Kind: jsonrpc.KindCall, Method: method, Params: []byte(params), ID: []byte("1"), Raw: []byte(params),
		Transport: jsonrpc.TransportLoopback, RemoteAddr: "somebody",
	})
}

const lean = `{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"Ada","contact_endpoint":"http://ada/mcp"}}`

// If a strict league refuses a registration that a tolerant one would accept, the
// refusal says so to the agent. An event reports each refused agent once.
func TestRefusedRegistrationsAreReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for range 3 {
		answer := r.ask("register_player", lean)
		if answer.Error == nil || !strings.Contains(string(answer.Error.Data), "started with --validation tolerant takes this message") {
			t.Errorf("the answer is %+v", answer)
		}
	}
	if answer := r.ask("register_player", `{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"Bo"}}`); strings.Contains(string(answer.Error.Data), "tolerant") {
		t.Errorf("no league takes an agent without an endpoint, but the answer is %s", answer.Error.Data)
	}
	r.player("ada")
	twin := r.agent(protocol.RolePlayer, "twin")
	twin.name = "ada"
	refuses(t, 2002, protocol.CodeDuplicateName)(twin.call(twin.application()))

	got := r.told(manager.MessageRefused)
	if len(got) != 3 {
		t.Fatalf("told of %d refusals, want 3: %+v", len(got), got)
	}
	first := got[0]
	if !first.Tolerant || first.Name != "Ada" || first.URL != "http://ada/mcp" || first.Message != protocol.TypeLeagueRegisterRequest ||
		!strings.Contains(first.Error, "required: /conversation_id, /player_meta/game_types") {
		t.Errorf("told of %+v", first)
	}
	if got[1].Tolerant || got[1].Name != "Bo" || got[2].Tolerant || got[2].Name != "ada" {
		t.Errorf("told of %+v", got[1:])
	}
}

// Of other messages the manager reports only strict refusals: a peer without a
// token cannot write on the screen of the user.
func TestOnlyStrictRefusalsAreReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.run()
	referee := r.referee("north")
	r.field(2)
	r.start()
	m := referee.own(referee.announcements(1))[0]
	report := func(token, conversation string) string {
		m := referee.reportOf(m, 1, fair(m))
		m.AuthToken, m.ConversationID = token, conversation
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if answer := r.ask("report_match_result", report("tok-guess", "")); answer.Error == nil || answer.Error.Code != 5001 {
		t.Errorf("a wrong token is answered by %+v", answer)
	}
	if got := r.told(manager.MessageRefused); len(got) != 0 {
		t.Errorf("told of a wrong token: %+v", got)
	}
	if answer := r.ask("report_match_result", report(referee.token, "")); answer.Error == nil || answer.Error.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a report without a conversation is answered by %+v", answer)
	}
	got := r.told(manager.MessageRefused)
	if len(got) != 1 || !got[0].Tolerant || got[0].Agent != "referee:REF01" || got[0].Message != protocol.TypeMatchResultReport {
		t.Errorf("told of %+v", got)
	}
	if answer := r.ask("report_match_result", report(referee.token, "c")); answer.Error != nil {
		t.Errorf("the report by the book is answered by %+v", answer.Error)
	}
}

// A tolerant league refuses for other reasons, and reports a bounded number of refusals.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Mode = protocol.Tolerant })
	for i := range 1000 {
		r.ask("register_player", fmt.Sprintf(`{"message_type":"LEAGUE_REGISTER_REQUEST","player_meta":{"display_name":"n%d","contact_endpoint":"nowhere"}}`, i))
	}
	got := r.told(manager.MessageRefused)
	if len(got) != 200 || got[0].Tolerant || !strings.Contains(got[0].Error, "endpoint is not an http or https URL") {
		t.Errorf("told of %d refusals, the first %+v", len(got), got[0])
	}
}

// Agents ask who is there before they register, each in its own way.
func TestRefusedQuestionsOfStrangersAreNotReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ada := r.player("ada")
	for told, sender := range []string{
		`"sender":"player:P77"`,
		fmt.Sprintf(`"sender":%q,"auth_token":%q`, ada.header(protocol.TypeLeagueQuery).Sender, ada.token),
	} {
		answer := r.ask("league_query", fmt.Sprintf(`{"protocol":"league.v2","message_type":"LEAGUE_QUERY",%s,
			"timestamp":"2026-01-01T12:00:00Z","conversation_id":"c","query_type":"GET_PLAYERS"}`, sender))
		if answer.Error == nil || !strings.Contains(string(answer.Error.Data), "league_id") {
			t.Errorf("with %q a question without a league is answered by %+v", sender, answer)
		}
		if got := r.told(manager.MessageRefused); len(got) != told {
			t.Errorf("with %q: told of %+v", sender, got)
		}
	}
}
