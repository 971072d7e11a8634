package peertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// foreignPlayers are the players that our host has to seat, as seen in real
// leagues.
var foreignPlayers = []*style{
	{name: "book", picky: true},
	{name: "loose", ids: "int", choiceField: "choice", joinField: "accepted", nullError: true, timestamp: "2006-01-02T15:04:05.000000+00:00"},
	{name: "type", naming: "type", picky: true, wantsSender: true, registered: "REGISTERED", joinField: "status"},
	{name: "lower", naming: "lower", picky: true, answers: "text", repeats: true},
	{name: "receive", naming: "receive", picky: true, joinField: "status"},
	{name: "message", frame: "message", ids: "int", choiceField: "choice"},
	{name: "tool", frame: "tool", picky: true, headerless: true, answers: "content", reads: "content"},
	{name: "toolresult", frame: "tool", picky: true, answers: "result", reads: "content"},
	{name: "io", frame: "io", answers: "io", reads: "io"},
	{name: "envelope", frame: "envelope", answers: "envelope", reads: "envelope"},
	{name: "asks", naming: "lower", answers: "params"},
	{name: "async", async: true},
	{name: "bare", frame: "bare", answers: "bare", reads: "bare"},
}

// hosted is a league of ours that others take part in.
type hosted struct {
	url    string
	played chan *host.Played
	failed chan error

	mu     sync.Mutex
	events []manager.Event
}

// hostLeague starts a league for a number of players, beside referees and house
// players of ours.
func hostLeague(ctx context.Context, t *testing.T, players, referees int, house ...string) *hosted {
	t.Helper()
	return hostLeagueWith(ctx, t, manager.Config{
		Players: players, Backoff: game.Backoff{Retries: 2, First: 5 * time.Millisecond, Most: 10 * time.Millisecond},
	}, referees, house...)
}

// impatient is the manager of a league of so many players that gives a referee a second to invite.
func impatient(players int) manager.Config {
	return manager.Config{
		Players: players, JoinTimeout: time.Second, Backoff: game.Backoff{Retries: 2, First: 150 * time.Millisecond, Most: 200 * time.Millisecond},
	}
}

func hostLeagueWith(ctx context.Context, t *testing.T, m manager.Config, referees int, house ...string) *hosted {
	t.Helper()
	h := &hosted{played: make(chan *host.Played, 1), failed: make(chan error, 1)}
	m.Mode, m.Timeout, m.Probe, m.MatchDeadline = protocol.Tolerant, time.Minute, manager.ProbeOff, 5*time.Minute
	m.Events = func(e manager.Event) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.events = append(h.events, e)
	}
	started := make(chan string, 1)
	l := &host.League{Network: host.NewSockets(), Server: jsonrpc.Config{Lenient: true}, Manager: m, Started: func(url string, _ bool) { started <- url }}
	for range referees {
		l.Referees = append(l.Referees, referee.Config{Config: agent.Config{Mode: protocol.Tolerant, Timeout: time.Minute, Backoff: m.Backoff}, Concurrent: 2, JoinTimeout: time.Minute, ChoiceTimeout: time.Minute})
	}
	for i, name := range house {
		l.Seats = append(l.Seats, player.Config{
			Config:   agent.Config{Name: "house-" + name, Mode: protocol.Tolerant, Backoff: m.Backoff},
			Factory:  factory(t, name),
			Patience: 20 * time.Millisecond,
			Key:      game.StrategyKey(1, 0, i),
			Coin:     game.CoinKey(1, 0, i),
		})
	}
	go func() {
		played, err := l.Play(ctx)
		_ = l.Network.Close()
		h.played <- played
		h.failed <- err
	}()
	select {
	case h.url = <-started:
	case err := <-h.failed:
		t.Fatal(err)
	}
	return h
}

// end waits for the end of the league.
func (h *hosted) end(t *testing.T) *host.Played {
	t.Helper()
	played := <-h.played
	if err := <-h.failed; err != nil {
		t.Fatal(err)
	}
	return played
}

// clean checks that a league was played without a technical loss.
func clean(t *testing.T, played *host.Played, players int) {
	t.Helper()
	if want := players * (players - 1) / 2; len(played.Matches) != want || len(played.Standings) != players {
		t.Errorf("%d of %d matches, %d of %d players", len(played.Matches), want, len(played.Standings), players)
	}
	for _, m := range played.Matches {
		for i, r := range m.Results {
			if r == game.TechnicalLoss || m.Choices[i] == game.NoParity {
				t.Errorf("%s: %s: %v, choice %v", m.ID, m.Players[i], r, m.Choices[i])
			}
		}
	}
}

// eachStyle runs a test for each program, some of them in a plain run.
func eachStyle(t *testing.T, all []*style, play func(ctx context.Context, t *testing.T, s *style)) {
	t.Helper()
	for _, s := range sample(t, all) {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			play(ctx, t, s)
		})
	}
}

// joins starts a player of a style and registers it.
func joins(ctx context.Context, t *testing.T, manager string, s *style, name string, n int) *contestant {
	t.Helper()
	c := contest(t, s, name, habit(n))
	if err := c.register(ctx, manager); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOurHostSeatsForeignPlayers: three players of each kind play a complete
// league of ours without a technical loss, and receive its end.
func TestOurHostSeatsForeignPlayers(t *testing.T) {
	t.Parallel()
	eachStyle(t, foreignPlayers, func(ctx context.Context, t *testing.T, s *style) {
		h := hostLeague(ctx, t, 3, 1)
		var all []*contestant
		for i := range 3 {
			all = append(all, joins(ctx, t, h.url, s, s.name+strings.Repeat("x", i+1), i))
		}
		clean(t, h.end(t), 3)
		checkContestants(ctx, t, all, 2)
	})
}

func checkContestants(ctx context.Context, t *testing.T, all []*contestant, matches int64) {
	t.Helper()
	for _, c := range all {
		select {
		case <-c.done:
		case <-ctx.Done():
			t.Errorf("%s did not learn that the league is over", c.name)
		}
		if n := c.overs.Load(); n < matches {
			t.Errorf("%s received %d of %d results", c.name, n, matches)
		}
	}
}

// TestStartedInOtherForms: a launcher on this machine that sends start_league
// with empty params or a league id, or posts to /start_league, starts the
// league.
func TestStartedInOtherForms(t *testing.T) {
	t.Parallel()
	call := func(params object) any {
		return object{"jsonrpc": "2.0", "method": "start_league", "params": params, "id": 1}
	}
	forms := map[string]struct {
		path string
		body any
	}{
		"empty params":       {"/mcp", call(object{})},
		"no params":          {"/mcp", object{"jsonrpc": "2.0", "method": "start_league", "id": 1}},
		"a league id":        {"/mcp", call(object{"league_id": "league_2025_even_odd"})},
		"the type as method": {"/mcp", object{"jsonrpc": "2.0", "method": "START_LEAGUE", "params": object{"sender": "launcher"}, "id": 1}},
		"a path of its own":  {"/start_league", object{}},
	}
	var all []*style
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		all = append(all, &style{name: name})
	}
	eachStyle(t, all, func(ctx context.Context, t *testing.T, s *style) {
		h, form := hostLeague(ctx, t, 0, 1), forms[s.name]
		players := []*contestant{joins(ctx, t, h.url, foreignPlayers[0], "Ada", 0), joins(ctx, t, h.url, foreignPlayers[0], "Grace", 0)}
		answer := players[0].program.post(ctx, strings.Replace(h.url, "/mcp", form.path, 1), form.body)
		if result, _ := answer["result"].(object); result != nil {
			answer = result
		}
		if text(answer, "message_type") != "LEAGUE_STATUS" {
			t.Fatalf("the start was answered by %v", answer)
		}
		clean(t, h.end(t), 2)
		checkContestants(ctx, t, players, 1)
	})
}

// spellings are what players make of the fields of their answers: their own
// name, somebody else's token, words and times in another form. Each changes an
// answer, given the message that it answers.
var spellings = map[string]func(answer, message object){
	"signs in the plural":        func(a, _ object) { a["sender"] = strings.Replace(text(a, "sender"), "player:", "players:", 1) },
	"goes by its own name":       func(a, _ object) { a["sender"], a["player_id"] = "player:Team 7", "Team 7" },
	"echoes the last token":      func(a, m object) { a["auth_token"] = m["auth_token"] },
	"has a constant token":       func(a, _ object) { a["auth_token"] = "tok_p1" },
	"has an empty token":         func(a, _ object) { a["auth_token"] = "" },
	"has a token that is null":   func(a, _ object) { a["auth_token"] = nil },
	"answers with the same type": func(a, m object) { a["message_type"] = m["message_type"] },
	"says what it has received":  func(a, m object) { a["message_type"] = text(m, "message_type") + "_RECEIVED" },
	"shouts its choice": func(a, _ object) {
		if choice, chose := a["parity_choice"]; chose {
			a["parity_choice"] = " " + strings.ToUpper(choice.(string))
		}
	},
	"calls its choice a move": func(a, _ object) {
		if choice, chose := a["parity_choice"]; chose {
			delete(a, "parity_choice")
			a["move"] = choice
		}
	},
	"joins in words": func(a, _ object) {
		if _, joins := a["accept"]; joins {
			a["accept"] = "true"
		}
	},
	"has times without a zone": func(a, _ object) {
		a["timestamp"], a["arrival_timestamp"] = "2026-11-22 12:00:00", "2026-11-22T12:00:00.5"
	},
	"counts seconds":       func(a, _ object) { a["timestamp"], a["arrival_timestamp"] = 1763800000.5, 1763800000 },
	"leaves the match out": func(a, _ object) { delete(a, "match_id") },
}

// TestOurHostTakesWhatComesBack: what a player answers on the host's own request
// is that player's, however it is signed and spelled. All of these players
// together play a league without a technical loss.
func TestOurHostTakesWhatComesBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	h := hostLeague(ctx, t, len(spellings), 2)
	var all []*contestant
	for name, respell := range spellings {
		c := contest(t, &style{name: name}, strings.ReplaceAll(name, " ", "-"), habit(len(all)))
		by := c.program.handle
		c.program.handle = func(t string, message object) object {
			answer := by(t, message)
			respell(answer, message)
			return answer
		}
		if err := c.register(ctx, h.url); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	clean(t, h.end(t), len(spellings))
	checkContestants(ctx, t, all, int64(len(spellings)-1))
}
