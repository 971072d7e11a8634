package manager_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// running starts a league of two players whose referee waits to be told what to
// report.
func running(t testing.TB, change func(*manager.Config)) (r *rig, referee *scripted, players []*scripted) {
	t.Helper()
	r = newRig(t, change)
	referee = r.referee("north")
	players = r.field(2)
	r.run()
	if err := r.m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	referee.announcements(1)
	return r, referee, players
}

// snapshot is what may not change when a request is refused.
func (r *rig) snapshot() any {
	return []any{r.m.Standings(), r.m.Results()}
}

// Every message that agents send after they have registered, by every kind of
// stranger.
func TestNobodySpeaksWithoutTheRightToken(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			r, referee, players := running(t, func(c *manager.Config) { c.Mode, c.AdminToken = mode, "tok-admin-secret" })
			before := r.snapshot()
			ada, ben := players[0], players[1]
			match := referee.announcements(1).Matches[0]
			report := referee.reportOf(match, 1, fair(match))
			codes := map[protocol.Type][2]int{ // missing, bad
				protocol.TypeStartLeague:       {11, 12},
				protocol.TypeMatchResultReport: {5001, 5001},
				protocol.TypeLeagueQuery:       {6001, 6001},
				protocol.TypeRoundAnnouncement: {3001, 3001},
				protocol.TypeGameJoinAck:       {4001, 4001},
				protocol.TypeGameOver:          {4001, 4001},
			}
			for kind, rpc := range codes {
				own := "player:P01"
				switch kind {
				case protocol.TypeStartLeague:
					own = "launcher"
				case protocol.TypeMatchResultReport:
					own = "referee:REF01"
				}
				for _, c := range []struct {
					what, sender, token string
					missing             bool
				}{
					{"no token", own, "", true},
					{"a wrong token", own, ada.token[:len(ada.token)-1] + "!", false},
					{"another agent's token", own, ben.token, false},
					{"a token that is a prefix", own, ada.token[:len(ada.token)-1], false},
					{"another agent's sender", "player:P02", ada.token, false},
					{"a sender nobody has", "player:P77", ada.token, false},
					{"a sender of another role", "referee:P01", ada.token, false},
					{"the referee's sender", "referee:REF01", ada.token, false},
					{"the manager's sender", "league_manager", ada.token, false},
					{"the launcher's sender", "launcher", ada.token, false},
					{"no sender at all", "", "", true},
					{"a sender that is none", "ada", ada.token, false},
				} {
					h := report.Header
					h.MessageType, h.Sender, h.AuthToken = kind, c.sender, c.token
					m := protocol.New(kind)
					if kind == protocol.TypeMatchResultReport {
						clone := *report
						m = &clone
					}
					*m.Head() = h
					answer, err := send[protocol.Message](r, m)
					want, code := rpc[1], protocol.CodeTokenInvalid
					if c.missing {
						want, code = rpc[0], protocol.CodeTokenMissing
					}
					if refusal := refused(t, answer, err); refusal.RPC != want || refusal.Code != code {
						t.Errorf("%s with %s is refused with %d %s, want %d %s", kind, c.what, refusal.RPC, refusal.Code, want, code)
					} else if c.token != "" && strings.Contains(string(refusal.Data), c.token) {
						t.Errorf("%s with %s is told its token: %s", kind, c.what, refusal.Data)
					}
				}
			}
			if diff := cmp.Diff(before, r.snapshot()); diff != "" {
				t.Errorf("refused messages have changed the league:\n%s", diff)
			}
			// The very same report counts when it is the referee's own.
			if _, err := referee.call(report); err != nil {
				t.Errorf("the referee is refused: %v", err)
			}
		})
	}
}

func TestMessagesThatAreNotForAManager(t *testing.T) {
	t.Parallel()
	r, _, players := running(t, nil)
	for _, kind := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeRoundAnnouncement, protocol.TypeGameError, protocol.TypeLeagueCompleted} {
		m := protocol.New(kind)
		*m.Head() = players[0].header(kind)
		answer, err := players[0].call(m)
		wantRefusal(t, -32601, protocol.CodeUnknownMessageType, answer, err)
	}
	if n := len(r.m.Results()); n != 0 {
		t.Errorf("%d results", n)
	}
}

func TestAPlayerReportsNothingInItsOwnName(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r, referee, players := running(t, func(c *manager.Config) { c.Mode = mode })
		match := referee.announcements(1).Matches[0]
		answer, err := players[0].call(players[0].reportOf(match, 1, fair(match)))
		if refusal := refused(t, answer, err); refusal.RPC != 5002 && refusal.RPC != -32602 {
			t.Errorf("%s: refused with %d %s", mode, refusal.RPC, refusal.Code)
		}
		if n := len(r.m.Results()); n != 0 {
			t.Errorf("%s: %d results", mode, n)
		}
	}
}

// launch is START_LEAGUE.
func launch(token string) *protocol.StartLeague {
	h := protocol.NewHeader(protocol.TypeStartLeague, "launcher", protocol.Timestamp(time.Now()), "launch")
	h.LeagueID, h.AuthToken = "cup", token
	return &protocol.StartLeague{Header: h}
}

// overHTTP serves a manager over a socket and returns its URL.
func (r *rig) overHTTP() string {
	r.t.Helper()
	srv, err := jsonrpc.Listen(context.Background(), "127.0.0.1:0", jsonrpc.Config{Refuse: r.m.Refuse})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.t.Cleanup(stop)
	r.serving.Go(func() { srv.Serve(ctx, r.m.Handler()) })
	return srv.URL()
}

func TestWithoutAnAdminTokenOnlyThisMachineStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		header http.Header
		host   string
		code   protocol.Code // "" if it may
	}{
		{what: "a program on this machine"},
		{what: "a web page", header: http.Header{"Origin": {"https://evil.example"}}, code: protocol.CodeTokenMissing},
		{what: "a page without an origin", header: http.Header{"Origin": {"null"}}, code: protocol.CodeTokenMissing},
		{what: "by way of a proxy", header: http.Header{"X-Forwarded-For": {"203.0.113.7"}}, code: protocol.CodeTokenMissing},
		{what: "by way of another proxy", header: http.Header{"Forwarded": {"for=203.0.113.7"}}, code: protocol.CodeTokenMissing},
		{what: "by way of a third", header: http.Header{"Via": {"1.1 box"}}, code: protocol.CodeTokenMissing},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.referee("north")
			r.field(2)
			answer, err := post(t, r.overHTTP(), launch(""), c.header)
			if c.code != "" {
				wantRefusal(t, 11, c.code, answer, err)
				return
			}
			if err != nil || answer.(*protocol.LeagueStatus).Status != "running" {
				t.Errorf("the answer is %+v, %v", answer, err)
			}
		})
	}
}

// What net/http would not let a test send is given to the handler directly.
func TestWhichRequestsAreOfThisMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, remote, host, media string
		want                      bool
	}{
		{"IPv4", "127.0.0.1:4711", "127.0.0.1:8000", "application/json", true},
		{"IPv6", "[::1]:4711", "[::1]:8000", "application/json; charset=utf-8", true},
		{"a name", "127.0.0.1:4711", "localhost:8000", "application/json", true},
		{"a bare host", "127.0.0.1:4711", "localhost", "application/json", true},
		{"a rebound name", "127.0.0.1:4711", "evil.example:8000", "application/json", false},
		{"another machine", "192.168.7.20:4711", "localhost:8000", "application/json", false},
		{"a form", "127.0.0.1:4711", "localhost:8000", "text/plain", false},
		{"no media type", "127.0.0.1:4711", "localhost:8000", "", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.referee("north")
			r.field(2)
			call, err := protocol.Contracts.Call(launch(""))
			if err != nil {
				t.Fatal(err)
			}
			response := r.m.Handler().Handle(context.Background(), &jsonrpc.Request{
				Kind: jsonrpc.KindCall, Method: call.Method, Params: call.Params, ID: []byte("1"),
				Transport: jsonrpc.TransportHTTP, RemoteAddr: c.remote, Host: c.host, Header: http.Header{"Content-Type": {c.media}},
			})
			if started := response.Error == nil; started != c.want {
				t.Errorf("started: %v, want %v (%+v)", started, c.want, response.Error)
			}
		})
	}
}

func TestTheAdminToken(t *testing.T) {
	t.Parallel()
	const secret = "open-sesame"
	for _, c := range []struct {
		what, token, bearer string
		code                protocol.Code
		rpc                 int
	}{
		{what: "none", code: protocol.CodeTokenMissing, rpc: 11},
		{what: "wrong", token: "open", code: protocol.CodeTokenInvalid, rpc: 12},
		{what: "wrong bearer", bearer: "Bearer open", code: protocol.CodeTokenInvalid, rpc: 12},
		{what: "another scheme", bearer: "Basic " + secret, code: protocol.CodeTokenMissing, rpc: 11},
		{what: "in the message", token: secret},
		{what: "as bearer", bearer: "Bearer " + secret},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(cfg *manager.Config) { cfg.AdminToken = secret })
			r.referee("north")
			r.field(2)
			header := http.Header{"Origin": {"https://desk.example"}} // a token may come from anywhere
			if c.bearer != "" {
				header.Set("Authorization", c.bearer)
			}
			answer, err := post(t, r.overHTTP(), launch(c.token), header)
			if c.code != "" {
				wantRefusal(t, c.rpc, c.code, answer, err)
				return
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStartLeague(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	start := func() (*protocol.LeagueStatus, error) { return send[*protocol.LeagueStatus](r, launch("")) }
	answer, err := start()
	wantRefusal(t, 7, protocol.CodeInvalidState, answer, err)
	gate := make(chan struct{})
	referee := r.conductor("north", func(m protocol.AnnouncedMatch) protocol.MatchResult { <-gate; return fair(m) })
	r.player("ada")
	answer, err = start()
	wantRefusal(t, 7, protocol.CodeInvalidState, answer, err)
	r.player("ben")
	wrong := launch("")
	wrong.LeagueID = "another"
	answer, err = send[*protocol.LeagueStatus](r, wrong)
	wantRefusal(t, 43, protocol.CodeLeagueNotFound, answer, err)

	for _, what := range []string{"at first", "and again"} {
		answer, err := start()
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != "running" || answer.CurrentRound.Value() != 1 || answer.TotalRounds.Value() != 1 ||
			answer.MatchesCompleted.Value() != 0 || answer.LeagueID != "cup" {
			t.Errorf("%s: the status is %+v", what, answer)
		}
	}
	r.run()
	referee.announcements(1)
	close(gate)
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	answer, err = start()
	wantRefusal(t, 31, protocol.CodeLeagueAlreadyComplete, answer, err)
	if n := len(r.m.Results()); n != 1 {
		t.Errorf("%d results of one match", n)
	}
}

func TestTheLeagueWaitsForARefereeToStartByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 2 })
	r.run()
	players := r.field(2)
	if status := ask[protocol.StatusData](players[0], players[0].query(protocol.QueryStatus)); status.Status != "waiting" {
		t.Errorf("without a referee the league is %+v", status)
	}
	r.conductor("north", fair)
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
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
	players[1].on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
		select {
		case <-early:
			return nil, protocol.Refuse(protocol.CodeTokenInvalid, in.Type, "I do not know you yet.")
		default:
			return nil, nil
		}
	})
	r.run()
	if err := r.m.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	players[1].announcements(1)
}

func TestTheTokenTellsWhoSpeaksWhereTheSenderDoesNot(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		r := newRig(t, func(c *manager.Config) { c.Mode = mode })
		ada := r.player("ada")
		q := ada.query(protocol.QueryNextMatch)
		q.Sender = ""
		answer, err := ada.call(q)
		if mode == protocol.Strict {
			wantRefusal(t, -32602, protocol.CodeMissingField, answer, err)
		} else if err != nil {
			t.Errorf("a message without a sender is refused: %v", err)
		}
	}
}

func TestAgentsDoNotStartTheLeague(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	referee := r.referee("north")
	r.field(2)
	m := launch(referee.token)
	m.Sender = "referee:REF01"
	answer, err := referee.call(m)
	wantRefusal(t, 12, protocol.CodeTokenInvalid, answer, err)
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
