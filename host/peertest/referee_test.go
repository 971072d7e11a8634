package peertest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// assigningManagers are managers that assign matches in every known way, in all
// wrappings.
var assigningManagers = []*style{
	{name: "announces", picky: true},
	{name: "announces endpoints only", bare: true, textRounds: true},
	{name: "START_MATCH", assignBy: "START_MATCH", naming: "type", picky: true, reportAck: "MATCH_RESULT_REPORT_ACK"},
	{name: "start_match", assignBy: "start_match", noEndpoints: true, ids: "int"},
	{name: "assign_match", assignBy: "assign_match", frame: "message"},
	{name: "RUN_MATCH", assignBy: "RUN_MATCH", noEndpoints: true, naming: "lower", textRounds: true},
	{name: "announces to tools", frame: "tool", answers: "content", reads: "content"},
	{name: "announces in answers", answers: "params", reads: "params", naming: "lower"},
	{name: "announces bare", frame: "bare", answers: "bare", reads: "bare"},
	{name: "never says that it is over", endless: true, assignBy: "start_match"},
}

// TestOurRefereeUnderForeignManagers: our referee, which knows nothing but the
// manager's URL, conducts a complete league between players of the manager's
// kind.
func TestOurRefereeUnderForeignManagers(t *testing.T) {
	t.Parallel()
	eachStyle(t, assigningManagers, func(ctx context.Context, t *testing.T, s *style) {
		l := foreign(t, s)
		var serving sync.WaitGroup
		serving.Go(func() { ourReferee(ctx, t, l.manager.url, s.endless) })
		for i, name := range []string{"Ada", "Grace", "Edsger"} {
			joins(ctx, t, l.manager.url, s, name, i)
		}
		reports := l.play(ctx, 3, 1)
		serving.Wait()
		if len(l.referees) != 1 || len(reports) != 3 {
			t.Errorf("%d registrations of a referee, %d of 3 reports", len(l.referees), len(reports))
		}
		for id, r := range reports {
			details := inner(inner(r, "result"), "details")
			if len(inner(details, "choices")) != 2 || details["status"] == "TECHNICAL_LOSS" {
				t.Errorf("%s: %v", id, r)
			}
		}
	})
}

// ourReferee serves as the command does, until the league is over; where nobody
// says so, until it is silent.
func ourReferee(ctx context.Context, t *testing.T, manager string, endless bool) {
	network := host.NewSockets()
	defer network.Close()
	a := host.Agent{Network: network, Name: "referee", Manager: manager, Server: jsonrpc.Config{Lenient: true}}
	cfg := referee.Config{
		Config:        agent.Config{Mode: protocol.Tolerant, Timeout: time.Minute, Backoff: game.Backoff{Retries: 2, First: time.Millisecond, Most: time.Millisecond}},
		JoinTimeout:   time.Minute,
		ChoiceTimeout: time.Minute,
	}
	cfg.IdleExit = idleExit(endless)
	err := a.Referee(ctx, cfg)
	if err != nil {
		t.Errorf("our referee: %v", err)
	}
	if ctx.Err() != nil {
		t.Error("our referee has not noticed the end of the league")
	}
}

// foreignReferees are the referees that our host has to give matches to.
var foreignReferees = []*style{
	{name: "announced", points: [3]int{3, 1, 0}},
	{name: "START_MATCH", assignBy: "START_MATCH", picky: true},
	{name: "start_match", assignBy: "start_match", picky: true, ids: "int", timestamp: "2006-01-02T15:04:05.000Z"},
	{name: "assign_match", assignBy: "assign_match", frame: "message", suggests: true, choiceField: "choice"},
	{name: "RUN_MATCH", assignBy: "RUN_MATCH", naming: "type", noEndpoints: true, suggests: true, joinField: "status", winnerDraw: true},
	{name: "tools", frame: "tool", headerless: true, answers: "content", reads: "content"},
	{name: "bare", frame: "bare", answers: "bare", reads: "bare"},
	{name: "envelope", frame: "envelope", answers: "envelope", reads: "envelope"},
	{name: "flat results", over: "flat", lowerRoles: true},
	{name: "joins by message", async: true},
}

// official is a referee of a style that has registered with a manager of ours.
type official struct {
	*judge
	t       testing.TB
	manager string
	playing sync.WaitGroup
	once    sync.Map // matches, by id
}

func officiate(t *testing.T, s *style) *official {
	o := &official{judge: judgeNamed(t, s, "REF01"), t: t}
	joined := o.program.handle
	o.program.handle = func(kind string, message object) object {
		name := kind
		if s.assignBy != "" && strings.EqualFold(kind, s.assignBy) {
			o.begin(message)
		} else if kind == "ROUND_ANNOUNCEMENT" {
			if s.assignBy != "" && !s.suggests {
				return object{"_error": object{"code": -32601, "message": "Method not found"}}
			}
			if s.assignBy == "" {
				matches, _ := message["matches"].([]any)
				for _, m := range matches {
					m, _ := m.(object)
					if text(m, "referee_id") == o.id {
						m["round_id"], m["league_id"] = message["round_id"], message["league_id"]
						o.begin(m)
					}
				}
			}
		}
		return joined(name, message)
	}
	t.Cleanup(o.playing.Wait)
	return o
}

func (o *official) register(ctx context.Context, manager string) {
	o.t.Helper()
	o.manager = manager
	meta := object{
		"display_name": o.style.name, "version": "1.0.0", "protocol_version": "2.1.0", "game_types": []any{"even_odd"},
		"contact_endpoint": o.program.url, "max_concurrent_matches": 2,
	}
	if o.style.suggests {
		meta["capabilities"] = []any{o.style.assignBy}
	}
	answer := o.program.call(ctx, manager, "REFEREE_REGISTER_REQUEST", object{"conversation_id": "c-" + o.style.name, "referee_meta": meta})
	if text(answer, "status") != "ACCEPTED" {
		o.t.Fatalf("%s: registration answered by %v", o.style.name, answer)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.id, o.token = text(answer, "referee_id"), text(answer, "auth_token")
	o.program.signAs("referee:" + o.id)
}

// begin plays an assigned match, and reports it.
func (o *official) begin(m object) {
	id := text(m, "match_id")
	if _, again := o.once.LoadOrStore(id, true); again {
		return
	}
	o.playing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		p := matchup{id: id, sides: [2]registered{
			{id: text(m, "player_A_id"), endpoint: text(m, "player_A_endpoint")}, {id: text(m, "player_B_id"), endpoint: text(m, "player_B_endpoint")},
		}}
		if o.style.noEndpoints {
			o.lookUp(ctx, &p)
		}
		report := o.play(ctx, p, m["round_id"])
		fields := object{
			"league_id": m["league_id"], "round_id": m["round_id"], "match_id": id, "game_type": "even_odd",
			"auth_token": o.token, "conversation_id": "conv-" + id, "result": report["result"],
		}
		if ack := o.program.call(ctx, o.manager, "MATCH_RESULT_REPORT", fields); text(ack, "match_id") != id {
			o.t.Errorf("%s: the report of %s was answered by %v", o.style.name, id, ack)
		}
	})
}

// lookUp asks the manager where the players are.
func (o *official) lookUp(ctx context.Context, p *matchup) {
	answer := o.program.call(ctx, o.manager, "LEAGUE_QUERY", object{
		"query_type": "GET_PLAYERS", "auth_token": o.token, "conversation_id": "q-" + p.id,
	})
	data, _ := answer["data"].(object)
	players, _ := data["players"].([]any)
	for _, one := range players {
		one, _ := one.(object)
		for side := range p.sides {
			if p.sides[side].id == text(one, "player_id") {
				p.sides[side].endpoint = text(one, "contact_endpoint")
			}
		}
	}
}

// TestForeignRefereesOfOurHost: a foreign referee is given the matches of a
// league between house players and a foreign player.
func TestForeignRefereesOfOurHost(t *testing.T) {
	t.Parallel()
	eachStyle(t, foreignReferees, func(ctx context.Context, t *testing.T, s *style) {
		h := hostLeague(ctx, t, 3, 0, "random", "alternate")
		officiate(t, s).register(ctx, h.url)
		c := joins(ctx, t, h.url, &style{name: "guest", choiceField: s.choiceField, joinField: s.joinField, async: s.async, frame: s.frame, answers: s.answers, reads: s.reads, headerless: s.headerless}, "guest", 0)
		clean(t, h.end(t), 3)
		checkContestants(ctx, t, []*contestant{c}, 2)
	})
}

// TestRefereesThatWantAnotherForm: a foreign referee that acknowledges everything
// and plays on one kind of message, with fields of its own names, or refuses a
// sender that it does not know, conducts a league alone.
func TestRefereesThatWantAnotherForm(t *testing.T) {
	t.Parallel()
	eachStyle(t, []*style{
		{name: "MATCH_ASSIGNMENT", assignBy: "MATCH_ASSIGNMENT"},
		{name: "START_MATCH of a known sender", assignBy: "START_MATCH", wantsSender: true},
	}, func(ctx context.Context, t *testing.T, wants *style) {
		h := hostLeagueWith(ctx, t, impatient(3), 0, "random", "alternate")
		o := officiate(t, &style{name: "wants"})
		o.program.handle = func(kind string, message object) object {
			if wants.wantsSender && text(message, "sender") != "league_manager:LM01" && kind != "LEAGUE_COMPLETED" {
				return object{"_error": object{"code": -32602, "message": "Sender not registered"}}
			}
			if kind == wants.assignBy {
				o.begin(object{
					"match_id": message["match_id"], "round_id": message["round"], "league_id": "league_of_ours",
					"player_A_id": message["player1_id"], "player_A_endpoint": message["player1_endpoint"],
					"player_B_id": message["player2_id"], "player_B_endpoint": message["player2_endpoint"],
				})
			}
			return object{"message_type": "ACK", "status": "ok"}
		}
		o.register(ctx, h.url)
		joins(ctx, t, h.url, &style{name: "guest"}, "guest", 0)
		clean(t, h.end(t), 3)
	})
}

// TestRefereeThatConductsOneMatchAtATime: a referee that refuses a match while it
// conducts another gets it when it has reported.
func TestRefereeThatConductsOneMatchAtATime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	h := hostLeagueWith(ctx, t, impatient(4), 0, "random", "alternate")
	o := officiate(t, &style{name: "busy"})
	var busy atomic.Int64
	o.program.handle = func(kind string, message object) object {
		switch kind {
		case "ROUND_ANNOUNCEMENT":
			return object{"_error": object{"code": -32601, "message": "Method not found"}}
		case "START_MATCH":
			if !busy.CompareAndSwap(0, 1) {
				return object{"_error": object{"code": -32000, "message": "already conducting a match"}}
			}
			o.playing.Go(func() {
				p := matchup{id: text(message, "match_id"), sides: [2]registered{
					{id: text(message, "player1_id"), endpoint: text(message, "player1_endpoint")}, {id: text(message, "player2_id"), endpoint: text(message, "player2_endpoint")},
				}}
				report := o.play(ctx, p, message["round_id"])
				busy.Store(0) // it is free as soon as it reports
				o.program.call(ctx, h.url, "MATCH_RESULT_REPORT", object{"match_id": p.id, "auth_token": o.token, "conversation_id": "c", "result": report["result"]})
			})
		}
		return object{"status": "ok"}
	}
	o.register(ctx, h.url)
	joins(ctx, t, h.url, &style{name: "guest"}, "Ada", 1)
	joins(ctx, t, h.url, &style{name: "guest"}, "Grace", 1)
	clean(t, h.end(t), 4)
	if slices.ContainsFunc(h.events, func(e manager.Event) bool { return e.Kind == manager.RefereeUnable }) {
		t.Error("the referee is taken for one that conducts nothing")
	}
}
