package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
)

// cheat is a referee that cheats: what it says to players is altered on its way. It
// is safe for concurrent use.
type cheat struct {
	mu    sync.Mutex
	keys  map[string]string // by match, as first revealed
	alter func(c *cheat, m map[string]any)
}

func (c *cheat) trip(ctx context.Context, name string, next jsonrpc.RoundTripper, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	if !strings.HasPrefix(name, "REF") {
		return next.RoundTrip(ctx, out)
	}
	var request map[string]any
	if err := json.Unmarshal(out.Body, &request); err != nil {
		return nil, err
	}
	if m, ok := request["params"].(map[string]any); ok {
		c.mu.Lock()
		c.alter(c, m)
		c.mu.Unlock()
	}
	altered := *out
	var err error
	if altered.Body, err = json.Marshal(request); err != nil {
		return nil, err
	}
	return next.RoundTrip(ctx, &altered)
}

// opened returns the result in a GAME_OVER with a number, nil for any other message.
func opened(m map[string]any) map[string]any {
	result, _ := m["game_result"].(map[string]any)
	if _, drew := result["drawn_number"].(float64); !drew {
		return nil
	}
	return result
}

func is(m map[string]any, t protocol.Type) bool { return m["message_type"] == string(t) }

// setNumber makes a result that of another number.
func setNumber(result map[string]any, n int) {
	parity := game.ParityOf(n).String()
	result["drawn_number"], result["number_parity"] = n, parity
	if result["status"] == protocol.StatusWin {
		for id, choice := range result["choices"].(map[string]any) {
			if choice == parity {
				result["winner_player_id"] = id
			}
		}
	}
}

// bound returns what the draw of a message is bound to.
func bound(m map[string]any, players []string) *draws.Match {
	about := &draws.Match{League: m["league_id"].(string), ID: m["match_id"].(string), Round: int(m["round_id"].(float64))}
	result := opened(m)
	nonces, _ := m["draw_nonces"].(map[string]any)
	for i, id := range players {
		about.Players[i].ID = id
		if result != nil {
			about.Players[i].Choice = result["choices"].(map[string]any)[id].(string)
			about.Players[i].Nonce, _ = nonces[id].(string)
		}
	}
	return about
}

func playersOf(m map[string]any) []string {
	if result := opened(m); result != nil {
		return slices.Sorted(maps.Keys(result["choices"].(map[string]any)))
	}
	return []string{m["player_id"].(string), m["context"].(map[string]any)["opponent_id"].(string)}
}

// cheats are referees that break their commitments, and what a player says of it.
var cheats = map[string]struct {
	alter func(c *cheat, m map[string]any)
	finds error // nil where the referee is honest
	all   bool  // everybody finds it in every match
}{
	"honest": {alter: func(*cheat, map[string]any) {}, all: true},
	"redraws": {finds: draws.ErrNumber, all: true, alter: func(_ *cheat, m map[string]any) {
		if result := opened(m); result != nil {
			setNumber(result, (int(result["drawn_number"].(float64))+1)%10+1) // of the same parity: nobody's points change
		}
	}},
	"swaps keys": {finds: draws.ErrCommitment, alter: func(c *cheat, m map[string]any) {
		if opened(m) == nil {
			return
		}
		id := m["match_id"].(string)
		if c.keys[id] == "" {
			c.keys[id] = m["draw_key"].(string)
		}
		for _, other := range slices.Sorted(maps.Keys(c.keys)) {
			if other != id {
				m["draw_key"] = c.keys[other]
			}
		}
	}},
	"reveals another key": {finds: draws.ErrCommitment, all: true, alter: func(c *cheat, m map[string]any) {
		result := opened(m)
		if result == nil {
			return
		}
		id := m["match_id"].(string)
		if c.keys[id] == "" {
			c.keys[id] = draws.NewKey()
		}
		m["draw_key"] = c.keys[id]
		n, _ := bound(m, playersOf(m)).Number(c.keys[id]) // and the number follows from that
		setNumber(result, n)
	}},
	"reuses a key": {finds: draws.ErrReused, alter: func(c *cheat, m map[string]any) {
		const key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
		if is(m, protocol.TypeChooseParityCall) {
			m["draw_commitment"], _ = bound(m, playersOf(m)).Commitment(key)
		}
		if result := opened(m); result != nil {
			m["draw_key"] = key
			n, _ := bound(m, playersOf(m)).Number(key)
			setNumber(result, n)
		}
	}},
	"drops a nonce": {finds: draws.ErrNonce, alter: func(_ *cheat, m map[string]any) {
		if result := opened(m); result != nil {
			players := playersOf(m)
			delete(m["draw_nonces"].(map[string]any), players[0])
			n, _ := bound(m, players).Number(m["draw_key"].(string))
			setNumber(result, n)
		}
	}},
	"changes a choice": {finds: draws.ErrNumber, alter: func(_ *cheat, m map[string]any) {
		if result := opened(m); result != nil {
			players := playersOf(m)
			choices := result["choices"].(map[string]any)
			choices[players[0]] = map[any]string{"even": "odd", "odd": "even"}[choices[players[0]]]
			n, _ := bound(m, players).Number(m["draw_key"].(string))
			result["drawn_number"], result["number_parity"] = n, game.ParityOf(n).String()
			result["status"], result["winner_player_id"] = protocol.StatusDraw, nil
			if choices[players[0]] != choices[players[1]] {
				result["status"] = protocol.StatusWin
				setNumber(result, n)
			}
		}
	}},
	"keeps its key": {finds: draws.ErrNoKey, all: true, alter: func(_ *cheat, m map[string]any) { delete(m, "draw_key") }},
	"commits again": {finds: draws.ErrCommitment, all: true, alter: func(c *cheat, m map[string]any) {
		if is(m, protocol.TypeChooseParityCall) { // the first commitment was to something else
			m["draw_commitment"] = strings.Repeat("00", 32)
		}
	}},
}

// TestCheatingReferees plays leagues with referees that break their commitments, over
// the wire: the players and the audit of what they record find each of them, and nobody
// loses a match by it.
func TestCheatingReferees(t *testing.T) {
	t.Parallel()
	for name, cheating := range cheats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ends, report, troubles := playVerifiable(t, cheating.alter)
			for id, e := range ends {
				d := e.Draws
				if d == nil || d.Drawn != e.Standing.Played || d.Undrawn != 0 {
					t.Fatalf("%s ends with %+v after %d matches", id, d, e.Standing.Played)
				}
				if honest := cheating.finds == nil; cheating.all && (d.Verified == d.Drawn) != honest || cheating.all && !honest && d.Verified != 0 {
					t.Errorf("%s verified %d of %d", id, d.Verified, d.Drawn)
				}
			}
			verified, all := kept(report)
			if cheating.finds == nil {
				if len(troubles) != 0 || len(broken(report)) != 0 || verified != 12 || all != 12 {
					t.Errorf("%d of %d; %q; %q", verified, all, troubles, broken(report))
				}
				return
			}
			names := func(s string) bool { return strings.Contains(s, cheating.finds.Error()) }
			if !slices.ContainsFunc(troubles, names) {
				t.Errorf("the players say %q, want %q", troubles, cheating.finds)
			}
			if verified == all || all != 12 {
				t.Errorf("the audit verified %d of %d", verified, all)
			}
		})
	}
}

// kept returns how many draws keep the referee's commitments, of those that should.
func kept(report []judge.Outcome) (kept, all int) {
	i := slices.IndexFunc(report, func(o judge.Outcome) bool { return o.ID == "commitments" })
	return report[i].Examined - len(report[i].Findings), report[i].Examined
}

// broken returns what the rules find.
func broken(report []judge.Outcome) (texts []string) {
	for _, o := range report {
		for _, f := range o.Findings {
			texts = append(texts, f.Text)
		}
	}
	return texts
}

// playVerifiable plays a league of four over two legs and returns the last event and the
// troubles of its players, and the audit of what they recorded.
func playVerifiable(t *testing.T, alter func(*cheat, map[string]any)) (ends map[string]player.Event, report []judge.Outcome, troubles []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "league.jsonl")
	rec, err := trace.Create(path, trace.Head{Command: "test"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	cheating := &cheat{keys: map[string]string{}, alter: alter}
	l := &host.League{
		Network:  meddled{new(host.Memory), cheating.trip},
		Manager:  manager.Config{LeagueID: "cup", Players: 4, Legs: 2, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{{Concurrent: 4, Verifiable: true}},
		Tap: func(name string) jsonrpc.Tap {
			if strings.HasPrefix(name, "P") {
				return rec.Tap(name)
			}
			return nil
		},
	}
	var mu sync.Mutex
	ends = make(map[string]player.Event)
	for _, f := range named(t, "random", "markov-1", "role", "frequency") {
		cfg := player.Config{Config: agent.Config{Name: f.Info().Name}, Factory: f, Events: func(e player.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch e.Kind {
			case player.Trouble:
				troubles = append(troubles, e.Error)
			case player.Completed:
				ends[e.Player] = e
			}
		}}
		l.Seats = append(l.Seats, cfg)
	}
	played, err := l.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := played.Draws
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := trace.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	leagues := judge.Divide(read.Exchanges)
	if len(leagues) != 1 || len(ends) != 4 {
		t.Fatalf("%d leagues, %d ends", len(leagues), len(ends))
	}
	verified := 0
	for _, e := range ends {
		verified += e.Draws.Verified
	}
	cheated := slices.ContainsFunc(troubles, func(text string) bool { return strings.HasPrefix(text, "the number cannot be verified") })
	if verified < told.Verified || cheated != (told.Unverified > 0) || told.Drawn != len(played.Matches) {
		t.Errorf("the players told the manager %+v, have verified %d between them, and say %q", told, verified, troubles)
	}
	return ends, leagues[0].Apply(judge.Rules(judge.Options{})), troubles
}
