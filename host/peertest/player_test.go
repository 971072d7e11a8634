package peertest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// foreignLeagues are the managers and referees that our players have to handle,
// as seen in real leagues.
var foreignLeagues = []*style{
	{name: "by the book", picky: true},
	{name: "by the book, wild in details", nullError: true, ids: "int", past: true, bare: true, standings: "before", badToken: "401", draw: 20, points: [3]int{2, 1, 0}, over: "flat", timestamp: "2006-01-02T15:04:05.000000+00:00"},
	{name: "the type as method", naming: "type", picky: true, noToken: true, assigns: "hex", choiceField: "choice", joinField: "accepted", badToken: "type", over: "player", winnerDraw: true},
	{name: "the type in lower case", naming: "lower", picky: true, textRounds: true, assigns: "sender", joinField: "status", endless: true, badToken: "result", registered: "REGISTERED", timestamp: "2006-01-02T15:04:05.000Z"},
	{name: "names of its own", naming: "receive", lowerRoles: true, quiet: true, badToken: "500", probes: true},
	{name: "no name to speak of", naming: "unknown", wantsMeta: "2.", badToken: "status"},
	{name: "handle_message", frame: "message", textRounds: true, bare: true, standings: "before"},
	{name: "tools without a header", frame: "tool", headerless: true, answers: "content", reads: "content", badToken: "type"},
	{name: "tools read from the result", frame: "tool", headerless: true, answers: "content", reads: "top", quiet: true, endless: true},
	{name: "tools", frame: "tool", answers: "content", reads: "content"},
	{name: "tool and input", frame: "io", answers: "io", reads: "io"},
	{name: "envelope", frame: "envelope", answers: "envelope", reads: "envelope"},
	{name: "answers that are requests", answers: "params", reads: "params", naming: "lower"},
	{name: "answers that are requests, slowly", answers: "params", reads: "params", naming: "lower", thinks: 60 * time.Millisecond},
	{name: "joins by message", async: true, quiet: false, points: [3]int{1, 0, -1}},
	{name: "results that are text", answers: "text", ids: "int", lowerRoles: true},
	{name: "bare", frame: "bare", answers: "bare", reads: "bare", choiceField: "choice", endless: true},
}

func factory(t *testing.T, name string) strategies.Factory {
	t.Helper()
	f, ok := builtin.Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return f
}

// TestOurPlayerUnderForeignManagers: three of our players, which know nothing but
// the manager's URL, play a complete league under each kind of manager and
// referee without a technical loss, are registered once each, and leave.
func TestOurPlayerUnderForeignManagers(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup // they wait more than they compute
	defer all.Wait()
	for _, s := range foreignLeagues {
		all.Go(func() {
			t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				l := foreign(t, s)
				var players sync.WaitGroup
				ended := make([]player.Event, 3)
				for i := range ended {
					players.Go(func() { ended[i] = ourPlayer(ctx, t, l.manager.url, i, s.endless) })
				}
				reports := l.play(ctx, len(ended), 0)
				players.Wait()
				checkForeignLeague(t, l, reports, ended)
			})
		})
	}
}

var guestNames = []string{"Ada", "Grace", "Edsger", "Barbara", "Alan", "Emmy"}

// idleExit returns after which silence an agent leaves: soon only where nobody
// announces the end of the league.
func idleExit(endless bool) time.Duration {
	if endless {
		return 15 * time.Second // in which even a busy machine sends something
	}
	return 5 * time.Minute
}

// ourPlayer plays as the command does, and returns its last event.
func ourPlayer(ctx context.Context, t *testing.T, manager string, i int, endless bool) player.Event {
	var mu sync.Mutex
	var last player.Event
	network := host.NewSockets()
	defer network.Close()
	a := host.Agent{Network: network, Name: "player", Manager: manager, Server: jsonrpc.Config{Lenient: true}}
	err := a.Player(ctx, player.Config{
		Config: agent.Config{
			Name:     guestNames[i],
			Mode:     protocol.Tolerant,
			IdleExit: idleExit(endless),
			Backoff:  game.Backoff{Retries: 3, First: time.Millisecond, Most: time.Millisecond},
		},
		Factory:  factory(t, "random"),
		Key:      game.StrategyKey(1, 0, i),
		Coin:     game.CoinKey(1, 0, i),
		Once:     true,
		Patience: 20 * time.Millisecond,
		Events: func(e player.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == player.Completed || e.Kind == player.Deserted {
				last = e
			}
		},
	})
	if err != nil {
		t.Errorf("our player: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	return last
}

func checkForeignLeague(t *testing.T, l *league, reports map[string]object, ended []player.Event) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.players) != len(ended) {
		t.Errorf("%d registrations of %d players: %v", len(l.players), len(ended), l.players)
	}
	if len(reports) != 3 {
		t.Errorf("%d of 3 matches", len(reports))
	}
	points := 0
	for id, r := range reports {
		if absent, _ := r["technical_loss_player_ids"].([]any); len(absent) > 0 {
			t.Errorf("%s: technical loss of %v", id, absent)
		}
		result, _ := r["result"].(object)
		score, _ := result["score"].(object)
		for _, n := range score {
			points += n.(int)
		}
	}
	want := player.Completed
	if l.style.endless {
		want = player.Deserted
	}
	received := 0
	for i, e := range ended {
		received += e.Standing.Points
		if e.Kind != want || e.Standing.Played != 2 || e.Place == 0 || len(e.Table) != 3 {
			t.Errorf("player %d ended by %q, %+v, place %d, table of %d", i, e.Kind, e.Standing, e.Place, len(e.Table))
		}
	}
	if l.style.over == "flat" && received != points {
		t.Errorf("the players have counted %d points, the referee gave %d", received, points)
	}
}
