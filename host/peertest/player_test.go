package peertest

import (
	"context"
	"fmt"
	"slices"
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
	eachStyle(t, foreignLeagues, func(ctx context.Context, t *testing.T, s *style) {
		l := foreign(t, s)
		reports, ended := l.playOurs(ctx, t, 3)
		checkForeignLeague(t, l, reports, ended)
	})
}

// playOurs plays a league of so many of our players, and returns the reports and their last events.
func (l *league) playOurs(ctx context.Context, t *testing.T, n int) (reports map[string]object, ended []player.Event) {
	var players sync.WaitGroup
	ended = make([]player.Event, n)
	for i := range ended {
		players.Go(func() { ended[i] = ourPlayer(ctx, t, l.manager.url, i, l.style.endless) })
	}
	reports = l.play(ctx, n, 0)
	players.Wait()
	return reports, ended
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
	unabsent(t, reports)
	for _, r := range reports {
		for _, n := range inner(inner(r, "result"), "score") {
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

// unabsent checks that nobody lost by technical loss.
func unabsent(t *testing.T, reports map[string]object) {
	t.Helper()
	for id, r := range reports {
		if absent, _ := r["technical_loss_player_ids"].([]any); len(absent) > 0 {
			t.Errorf("%s: technical loss of %v", id, absent)
		}
	}
}

// TestOurPlayersUnderEveryRefereeAtOnce: a league of our players, most of them
// house players, in which every kind of referee that was seen conducts matches.
// Each of these reads nothing but the answers of its own kind, and the players
// know none of them: they lose nothing by technical loss.
func TestOurPlayersUnderEveryRefereeAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	referees := append(sample(t, foreignReferees), foreignReferees[0])
	n := 2 * len(referees) // a match of each round for every referee
	var house []string
	for _, f := range builtin.All()[:n-len(guestNames)] {
		house = append(house, f.Info().Name)
	}
	h := hostLeague(ctx, t, n, 0, house...)
	kinds := make(map[string]string) // of referees, by id
	for _, s := range referees {
		o := officiate(t, s)
		o.register(ctx, h.url)
		kinds[o.id] = s.name
	}
	var guests sync.WaitGroup
	ended := make([]player.Event, len(guestNames))
	for i := range ended {
		guests.Go(func() { ended[i] = ourPlayer(ctx, t, h.url, i, false) })
	}
	played := h.end(t)
	guests.Wait()
	conducted := make(map[string]int)
	for _, m := range played.Matches {
		conducted[kinds[m.RefereeID]]++
		for i, r := range m.Results {
			if m.Choices[i] == 0 {
				t.Errorf("%s: %s brings no choice to a referee of the kind %q: %v", m.ID, m.Players[i], kinds[m.RefereeID], r)
			}
		}
	}
	for _, kind := range kinds {
		if conducted[kind] < n-2 { // all but one round
			t.Errorf("a referee of the kind %q has conducted %d matches", kind, conducted[kind])
		}
	}
	clean(t, played, n)
	for i, e := range ended {
		if e.Kind != player.Completed || e.Standing.Played != n-1 || e.Place == 0 || len(e.Table) != n {
			t.Errorf("guest %d ended by %q, %+v, place %d, table of %d", i, e.Kind, e.Standing, e.Place, len(e.Table))
		}
	}
}

// TestOurPlayersUnderForeignRefereesInTurn: under each of a few foreign managers
// the matches of our players are conducted by referees of all kinds in turn,
// that know nothing of the manager's kind, among them one that reads no answers
// but requests. The players lose nothing by technical loss.
func TestOurPlayersUnderForeignRefereesInTurn(t *testing.T) {
	t.Parallel()
	tools := &style{name: "tools", frame: "tool", answers: "content", reads: "content"}
	eachStyle(t, []*style{foreignLeagues[0], foreignLeagues[2], {name: "handle_message", frame: "message"}, tools}, func(ctx context.Context, t *testing.T, manager *style) {
		l := foreign(t, manager)
		asks := &style{name: "asks", naming: "lower", answers: "params", reads: "params", thinks: 60 * time.Millisecond}
		for i, s := range append(slices.Clone(foreignReferees), asks) {
			l.panel = append(l.panel, judgeNamed(t, s, fmt.Sprintf("REF%02d", i+1)))
		}
		reports, ended := l.playOurs(ctx, t, len(guestNames))
		if want := len(ended) * (len(ended) - 1) / 2; len(reports) != want {
			t.Errorf("%d of %d matches", len(reports), want)
		}
		unabsent(t, reports)
	})
}
