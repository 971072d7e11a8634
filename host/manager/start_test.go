package manager_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// launch is START_LEAGUE.
func launch(token string) *protocol.StartLeague {
	h := protocol.NewHeader(protocol.TypeStartLeague, "launcher", protocol.Timestamp(time.Now()), "launch")
	h.LeagueID, h.AuthToken = "cup", token
	return &protocol.StartLeague{Header: h}
}

// desk is the origin of web pages that may call.
const desk = "https://desk.example"

// overHTTP serves a manager over a socket and returns its URL.
func (r *rig) overHTTP() string {
	r.t.Helper()
	srv, err := jsonrpc.Listen(context.Background(), "127.0.0.1:0", jsonrpc.Config{
		Refuse: r.m.Dispatcher().Refuse, Callers: jsonrpc.Callers{Origins: []string{desk}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.t.Cleanup(stop)
	r.serving.Go(func() { srv.Serve(ctx, r.m.Dispatcher()) })
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
		{what: "a web page that may call", header: http.Header{"Origin": {desk}}, code: protocol.CodeTokenMissing},
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
			header := http.Header{"Origin": {desk}} // a token may come from anywhere
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
	players[1].on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
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

func TestPlayersAreSeatedByTheirNumbers(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *manager.Config) { c.Players = 3 })
	r.run()
	r.conductor("north", fair)
	for _, asked := range []string{"P30", "P04", "P111"} {
		p := r.agent(protocol.RolePlayer, "for-"+asked)
		m := p.application()
		m.Head().Sender = "player:" + asked
		answer, err := p.call(m)
		if err != nil {
			t.Fatal(err)
		}
		p.accepted(answer)
	}
	if err := r.finished(); err != nil {
		t.Fatal(err)
	}
	seats := []string{"P04", "P30", "P111"}
	for _, m := range r.m.Results() {
		for i, seat := range m.Seats {
			if m.Players[i] != seats[seat] {
				t.Errorf("on seat %d sits %s, want %s", seat, m.Players[i], seats[seat])
			}
		}
	}
}

func TestABusyServerRefusesInTheLeaguesWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	e := r.m.Dispatcher().Refuse(t.Context(), new(jsonrpc.Request), &jsonrpc.Refusal{Reason: jsonrpc.ReasonBusy, Status: 503, Code: 48, Detail: "busy"})
	if e == nil || e.Code != 48 || !strings.Contains(string(e.Data), `"error_code":"E048"`) || !strings.Contains(string(e.Data), "LEAGUE_ERROR") {
		t.Errorf("the refusal is %+v", e)
	}
}
