package judge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// recorded returns what the agents whose names begin so recorded of a league of
// five over two legs. Each call returns exchanges of its own.
func recorded(t *testing.T, agents string) []*trace.Exchange {
	t.Helper()
	file, err := recording()
	if err != nil {
		t.Fatal(err)
	}
	read, err := trace.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(read.Exchanges, func(x *trace.Exchange) bool { return !strings.HasPrefix(x.Agent, agents) })
}

// recording plays the league and returns the file that its agents record.
var recording = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "league.jsonl")
	rec, err := trace.Create(path, trace.Head{Command: "test"}, time.Now)
	if err != nil {
		return nil, err
	}
	l := &host.League{
		Network:  new(host.Memory),
		Manager:  manager.Config{LeagueID: "cup", Players: 5, Legs: 2, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{{Concurrent: 4, Draw: func(m referee.Match) (int, error) { return game.FairDraw().Pick(game.LiveWord(1, m.League, m.ID)), nil }}},
		Tap:      rec.Tap,
	}
	for i := range 5 {
		f := builtin.All()[i]
		if i == 4 {
			f = broken{f}
		}
		l.Seats = append(l.Seats, player.Config{Config: agent.Config{Name: f.Info().Name}, Factory: f})
	}
	_, err = l.Play(context.Background())
	if err := errors.Join(err, rec.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// broken is a strategy that fails in every other match, so that the league has
// technical losses.
type broken struct{ strategies.Factory }

func (b broken) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	inner, err := b.Factory.New(ctx, s)
	return &faulty{Strategy: inner}, err
}

type faulty struct {
	strategies.Strategy
	calls int
}

func (f *faulty) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if f.calls++; f.calls%2 == 0 {
		return 0, errors.New("out of ideas")
	}
	return f.Strategy.Choose(ctx, t)
}

// one returns what the rules say of the only league in a recording.
func one(t *testing.T, exchanges []*trace.Exchange) []judge.Outcome {
	t.Helper()
	leagues := judge.Divide(exchanges)
	if len(leagues) != 1 {
		t.Fatalf("the recording is divided into %d leagues, want 1", len(leagues))
	}
	return leagues[0].Apply(rules)
}

// rules find every draw fair.
var rules = judge.Rules(judge.Options{Fair: func(game.Draw, []judge.Draw) (judge.Answer, string) { return judge.Holds, "" }})

// finding returns the ids of the rules that found something.
func finding(all []judge.Outcome) []string {
	var ids []string
	for _, o := range all {
		if len(o.Findings) > 0 {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// An honest league passes, no matter which agent recorded it, and every check has had
// something to look at.
func TestHonestLeague(t *testing.T) {
	t.Parallel()
	for agents, want := range map[string]struct{ matches, draws int }{"": {20, 16}, "manager": {20, 16}, "REF": {20, 16}, "P01": {8, 8}} {
		exchanges := recorded(t, agents)
		r := one(t, exchanges)
		for _, c := range r {
			if len(c.Findings) > 0 {
				t.Errorf("recorded by %q: %s does not hold: %v", agents, c.ID, c.Findings)
			}
			blind := c.ID == "deadlines" || c.ID == "commitments" || agents == "manager" && slices.Contains([]string{"choices", "offences", "same-result"}, c.ID) ||
				agents == "REF" && slices.Contains([]string{"standings", "champion"}, c.ID) || agents == "P01" && slices.Contains([]string{"same-result", "ties"}, c.ID)
			if c.Examined == 0 && !blind {
				t.Errorf("recorded by %q: %s had nothing to look at", agents, c.ID)
			}
		}
		league := judge.Divide(exchanges)[0]
		if n := league.Decided(); n != want.matches {
			t.Errorf("recorded by %q: %d results, want %d", agents, n, want.matches)
		}
		if n := len(league.Draws()); n != want.draws {
			t.Errorf("recorded by %q: %d draws, want %d", agents, n, want.draws)
		}
	}
}

// Two leagues of one name, one after the other, are two.
func TestLeaguesAreDivided(t *testing.T) {
	t.Parallel()
	xs := append(recorded(t, "P01"), recorded(t, "P01")...)
	if n := len(judge.Divide(xs)); n != 2 {
		t.Errorf("divided into %d leagues, want 2", n)
	}
	b := write(t, false)
	x, a := find[*protocol.RoundAnnouncement](b, "1", "P01")
	a.LeagueID, x.Answer = "", &protocol.Ack{Header: protocol.Header{LeagueID: "cup"}} // only the answer names it
	b.drop(func(x *trace.Exchange) bool { return x.Type == protocol.TypeRoundAnnouncement && x.Request != a })
	b.anonymize()
	if n := len(judge.Divide(b.xs)); n != 1 {
		t.Errorf("divided into %d leagues, want 1", n)
	}
}

// members are what a recording of foreign programs may lack anywhere.
var members = []string{
	"player_id", "sender", "league_id", "round_id", "opponent_id", "role_in_match", "conversation_id", "auth_token",
	"timestamp", "deadline", "contact_endpoint", "player_A_endpoint", "player_B_endpoint", "choices", "winner_player_id",
	"winner", "score", "details", "drawn_number", "number_parity", "status", "technical_loss_player_ids", "reason",
	"played", "wins", "draws", "losses", "champion", "byes", "context", "affected_player", "accept", "parity_choice",
}

// kinds are the messages that a recording may lack altogether.
var kinds = []string{
	"ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "GAME_ERROR", "MATCH_RESULT_REPORT",
	"LEAGUE_STANDINGS_UPDATE", "LEAGUE_COMPLETED", "ROUND_COMPLETED", "LEAGUE_QUERY", "LEAGUE_REGISTER_REQUEST",
}

// line is one line of a recording.
type line map[string]any

func (l line) is(kind string) bool { return l.says(`"message_type":"` + kind + `"`) }

func (l line) says(text string) bool {
	raw, err := json.Marshal(l["body"])
	return err == nil && bytes.Contains(raw, []byte(text))
}

// lines returns the recording of an honest league, or that of one of its agents.
func lines(t *rapid.T) []line {
	file, err := recording()
	if err != nil {
		t.Fatal(err)
	}
	agent := rapid.SampledFrom([]string{"", "manager", "REF01", "P01", "P03"}).Draw(t, "agent")
	var all []line
	for raw := range bytes.Lines(file) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if l["trace"] != nil || agent == "" || l["agent"] == agent {
			all = append(all, l)
		}
	}
	return all
}

// without removes members anywhere below v.
func without(v any, names []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range names {
			delete(v, name)
		}
		for _, inner := range v {
			without(inner, names)
		}
	case []any:
		for _, inner := range v {
			without(inner, names)
		}
	}
}

// lose removes from a recording what recordings of real leagues lack.
func lose(t *rapid.T, all []line) []line {
	everywhere := rapid.SliceOfNDistinct(rapid.SampledFrom(members), 0, 4, rapid.ID).Draw(t, "members lost everywhere")
	sometimes := rapid.SliceOfNDistinct(rapid.SampledFrom(members), 0, 4, rapid.ID).Draw(t, "members lost at times")
	gone := rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 0, 3, rapid.ID).Draw(t, "messages lost")
	share := rapid.IntRange(0, 40).Draw(t, "percentage of lost exchanges")
	chance := rapid.IntRange(1, 1<<20).Draw(t, "chance")
	roll := func(exchange any, salt int) int { // the same for both lines of an exchange
		n := uint64(exchange.(float64))*2654435761 + uint64(chance)*uint64(salt)*40503
		n ^= n >> 15
		n *= 2246822519
		return int(n >> 13 % 100)
	}
	lost := map[any]bool{}
	for _, l := range all {
		if l["exchange"] != nil && (slices.ContainsFunc(gone, l.is) || roll(l["exchange"], 1)%100 < share) && l["part"] == "request" {
			lost[l["exchange"]] = true
		}
	}
	own := rapid.Bool().Draw(t, "the referee has a league id of its own")
	anonymous := rapid.Bool().Draw(t, "choices without ids")
	var kept []line
	for _, l := range all {
		if l["exchange"] == nil {
			kept = append(kept, l)
			continue
		}
		if lost[l["exchange"]] {
			continue
		}
		byReferee := l.says(`"sender":"referee`)
		without(l["body"], everywhere)
		if roll(l["exchange"], 2)%100 < 30 {
			without(l["body"], sometimes)
		}
		raw, err := json.Marshal(l["body"])
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if own && byReferee {
			text = strings.ReplaceAll(text, `"league_id":"cup"`, `"league_id":"league_of_its_own"`)
		}
		if anonymous && l.is("GAME_OVER") {
			for i := range 5 {
				text = strings.ReplaceAll(text, fmt.Sprintf(`"P%02d":`, i+1), fmt.Sprintf(`"player%d":`, i+1))
			}
		}
		l["body"] = json.RawMessage(text)
		kept = append(kept, l)
	}
	return kept
}

func read(t *rapid.T, all []line) []*trace.Exchange {
	var file bytes.Buffer
	for _, l := range all {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(raw, '\n'))
	}
	rec, err := trace.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return rec.Exchanges
}

// The audit accuses nobody of what a recording lacks: members, messages, ids.
func TestGapsAccuseNobody(t *testing.T) {
	t.Parallel()
	if os.Getenv("WHOLE_TESTS") == "" {
		_ = flag.Set("rapid.checks", "12") // nothing else of the package draws
	}
	rapid.Check(t, func(t *rapid.T) {
		xs := read(t, lose(t, lines(t)))
		for _, e := range judge.Divide(xs) {
			for id, texts := range findings(e.Apply(rules)) {
				t.Errorf("league %q: %s: %q", e.ID, id, texts)
			}
		}
		if err := trace.Show(&bytes.Buffer{}, xs, trace.Format{}); err != nil {
			t.Error(err)
		}
	})
}
