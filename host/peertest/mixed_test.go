package peertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// TestOurPlayersUnderEveryRefereeAtOnce: a league of our players, most of them
// house players, in which every kind of referee that was seen conducts matches.
// Each of these reads nothing but the answers of its own kind, and the players
// know none of them: they lose nothing by technical loss.
func TestOurPlayersUnderEveryRefereeAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	// A match of each round for every referee.
	n := 2 * len(foreignReferees)
	var house []string
	for _, f := range builtin.All()[:n-len(guestNames)] {
		house = append(house, f.Info().Name)
	}
	h := hostLeague(ctx, t, n, 0, house...)
	kinds := make(map[string]string) // of referees, by id
	for _, s := range foreignReferees {
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
	for _, manager := range []*style{foreignLeagues[0], foreignLeagues[2], {name: "handle_message", frame: "message"}, {name: "tools", frame: "tool", answers: "content", reads: "content"}} {
		t.Run(strings.ReplaceAll(manager.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			l := foreign(t, manager)
			asks := &style{name: "asks", naming: "lower", answers: "params", reads: "params", thinks: 60 * time.Millisecond}
			for i, s := range append(slices.Clone(foreignReferees), asks) {
				l.panel = append(l.panel, judgeNamed(t, s, fmt.Sprintf("REF%02d", i+1)))
			}
			var players sync.WaitGroup
			ended := make([]player.Event, len(guestNames))
			for i := range ended {
				players.Go(func() { ended[i] = ourPlayer(ctx, t, l.manager.url, i, l.style.endless) })
			}
			reports := l.play(ctx, len(ended), 0)
			players.Wait()
			if want := len(ended) * (len(ended) - 1) / 2; len(reports) != want {
				t.Errorf("%d of %d matches", len(reports), want)
			}
			for id, r := range reports {
				if absent, _ := r["technical_loss_player_ids"].([]any); len(absent) > 0 {
					t.Errorf("%s: technical loss of %v", id, absent)
				}
			}
		})
	}
}
