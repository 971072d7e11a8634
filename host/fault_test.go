package host_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/managertest"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

// patience is what is waited for an answer where some never come. It is tried
// three times, so that a busy machine makes nobody miss it.
const patience = 200 * time.Millisecond

var quick = game.Backoff{Retries: 2, First: time.Millisecond, Most: 4 * time.Millisecond}

// punctual tells a time that patience takes to a full second: a deadline is
// stated in full seconds, and players are given all the time that is stated.
func punctual() time.Time { return time.Now().Truncate(time.Second).Add(time.Second - patience) }

// leagueOf is a live league over sockets with quick times.
func leagueOf(t *testing.T, players, own int) *host.League {
	t.Helper()
	l := &host.League{
		Network: host.NewSockets(),
		Manager: manager.Config{LeagueID: "cup", Players: players, DataDir: t.TempDir(), NoSync: true, Probe: manager.ProbeOff, Timeout: patience, Backoff: quick},
		Referees: []referee.Config{
			{Config: agent.Config{Timeout: patience, Backoff: quick, Now: punctual}, Concurrent: players, JoinTimeout: patience, ChoiceTimeout: patience},
		},
	}
	t.Cleanup(func() { l.Network.Close() })
	for i, f := range named(t, "random", "markov-1", "role", "frequency", "hedge", "copy-last")[:own] {
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{Config: agent.Config{Name: fmt.Sprintf("healthy %d", i), Backoff: quick}, Factory: f, Watch: -1}})
	}
	return l
}

// audit holds the results of a league to its rules, to its table and to its
// journal: everybody played everybody, healthy players took no technical loss
// and got their points from every match.
func audit(t *testing.T, cfg manager.Config, played *host.Played, healthy func(id string) bool) {
	t.Helper()
	n := len(played.Standings)
	if want := n * (n - 1) / 2 * max(1, cfg.Legs); len(played.Matches) != want {
		t.Fatalf("%d results, want %d", len(played.Matches), want)
	}
	points, count := make(map[string]int), make(map[string]int)
	for _, m := range played.Matches {
		for k, id := range m.Players {
			other := m.Players[1-k]
			points[id] += m.Points[k]
			count[id]++
			switch {
			case healthy(id) && m.Results[k] == game.TechnicalLoss:
				t.Errorf("%s: %s is healthy and lost to %s by technical loss", m.ID, id, other)
			case healthy(id) && m.Results[1-k] == game.TechnicalLoss && m.Points[k] != game.WinPoints:
				t.Errorf("%s: %s got %d points from %s, which was at fault", m.ID, id, m.Points[k], other)
			}
		}
	}
	for _, s := range played.Standings {
		if s.Points != points[s.PlayerID] || s.Played != count[s.PlayerID] || s.Played != (n-1)*max(1, cfg.Legs) {
			t.Errorf("the table says %+v, the results %d points in %d matches", s, points[s.PlayerID], count[s.PlayerID])
		}
	}
	if cfg.DataDir == "" {
		return
	}
	if table := managertest.Table(t, cfg.DataDir, cfg.LeagueID); !slices.Equal(table, played.Standings) {
		t.Errorf("the journal gives\n%+v, the table is\n%+v", table, played.Standings)
	}
}

// TestMisbehavingPlayers plays leagues of healthy players and of every kind of
// broken one, over sockets, to their ends.
func TestMisbehavingPlayers(t *testing.T) {
	t.Parallel()
	all := append(misbehaviours(), crashed(t))
	const leagues = 3
	for part := range leagues {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			var broken []*misbehaving
			for i := part; i < len(all); i += leagues {
				p := all[i]
				broken = append(broken, p)
				if p.url == "" {
					srv := httptest.NewServer(p)
					t.Cleanup(srv.Close)
					p.url = srv.URL + "/mcp"
				}
			}
			l := leagueOf(t, 3+len(broken), 3)
			l.Manager.Mode = protocol.Tolerant
			l.Started = func(url string, _ bool) {
				for _, p := range broken {
					p.register(t, url)
				}
			}
			played, err := l.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			own := []string{"P01", "P02", "P03"}
			healthy := func(id string) bool { return slices.Contains(own, id) }
			audit(t, l.Manager, played, healthy)
			names := make(map[string]string)
			for _, p := range broken {
				names[p.id] = p.name
			}
			for _, m := range played.Matches {
				for k, id := range m.Players {
					if !healthy(id) && healthy(m.Players[1-k]) && m.Results[k] != game.TechnicalLoss {
						t.Errorf("%s: %q got away with %v (%v)", m.ID, names[id], m.Results[k], m.Choices)
					}
				}
			}
		})
	}
}
