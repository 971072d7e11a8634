package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/fairness"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// played plays a league of our host and returns what its agents recorded. A verifiable
// one draws by commitments, any other by the seed.
func played(t *testing.T, players, legs int, verifiable bool, seed uint64) *trace.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "league.jsonl")
	recorder, err := trace.Create(path, trace.Head{Command: "test"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	draw := game.FairDraw()
	ref := referee.Config{Concurrent: 4, Verifiable: verifiable, Draw: func(m referee.Match) (int, error) { return draw.Pick(game.LiveWord(seed, m.League, m.ID)), nil }}
	l := &host.League{
		Network:  new(host.Memory),
		Manager:  manager.Config{LeagueID: "cup", Players: players, Legs: legs, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{ref, ref}, Tap: recorder.Tap,
	}
	for i := range players {
		f := builtin.All()[i%len(builtin.All())]
		l.Seats = append(l.Seats, player.Config{Config: agent.Config{Name: fmt.Sprint(f.Info().Name, i)}, Factory: f})
	}
	if _, err := l.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := trace.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// accusations returns what the audit of the recording of one agent holds against
// anybody.
func accusations(rec *trace.Recording, agent string) (texts []string) {
	own := slices.DeleteFunc(slices.Clone(rec.Exchanges), func(x *trace.Exchange) bool { return x.Agent != agent && agent != "" })
	for _, l := range judge.Divide(own) {
		for _, o := range l.Apply(judge.Rules(judge.Options{Fair: FairDraws})) {
			for _, f := range o.Findings {
				if f.Answer != judge.Unusual {
					texts = append(texts, o.ID+": "+f.Text)
				}
			}
		}
	}
	return texts
}

// sampleOrAll returns the second number if nothing is to be left out.
func sampleOrAll(sample, all int) int {
	if os.Getenv("WHOLE_TESTS") == "" {
		return sample
	}
	return all
}

// An honest league of our host is accused by none of its players, its referees and its
// manager, nor by somebody who has all recordings.
func TestHonestLeaguesAreNotAccused(t *testing.T) {
	t.Parallel()
	leagues, class := sampleOrAll(7, 14), 2 // of every size one, or with verifiable draws and with plain ones
	if os.Getenv("LONG_TESTS") != "" {
		leagues, class = 300, 30
	}
	for i := range leagues {
		players := 2 + i%7
		if i == 0 {
			players = class // each of whom audits
		}
		rec := played(t, players, 1+i%2, (i+i/7)%2 == 0, uint64(i))
		agents := []string{"", "manager", "REF01", "REF02"}
		for seat := range players {
			agents = append(agents, game.PlayerID(seat))
		}
		for _, agent := range agents {
			if found := accusations(rec, agent); len(found) > 0 {
				t.Errorf("league %d of %d, recorded by %q: %q", i, players, agent, found)
			}
		}
	}
}

// judged applies the rules to a league of which only the numbers are known, and that the
// choices always differ.
func judged(numbers []int) []judge.Outcome {
	var all []*trace.Exchange
	for i, n := range numbers {
		over := &protocol.GameOver{GameResult: &protocol.GameResult{ResultDetails: protocol.ResultDetails{
			DrawnNumber: protocol.Some(n), Choices: map[string]protocol.Choice{"P01": protocol.Even, "P02": protocol.Odd},
		}}}
		over.MatchID = fmt.Sprint("M", i)
		all = append(all, &trace.Exchange{Type: protocol.TypeGameOver, Match: over.MatchID, Request: over})
	}
	return judge.Divide(all)[0].Apply(judge.Rules(judge.Options{Fair: FairDraws}))
}

// A league that draws from another range, and says so nowhere, is accused of nothing.
func TestFairDrawsOfOtherRangesAreNotAccused(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for _, span := range [][2]int{{0, 1}, {1, 4}, {1, 6}, {2, 7}, {0, 9}, {0, 10}, {1, 20}, {0, 100}, {1, 100}} {
		for _, n := range []int{1, 2, 5, 12, 33, 90} {
			for range sampleOrAll(4, 12) {
				numbers := make([]int, n)
				for i := range numbers {
					numbers[i] = span[0] + random.IntN(span[1]-span[0]+1)
				}
				for _, o := range judged(numbers) {
					if o.Answer == judge.Broken {
						t.Errorf("%d draws from %v: %s: %s", n, span, o.ID, o.Findings[0].Text)
					}
				}
			}
		}
	}
}

// Draws of two even numbers for an odd one are noticed as often as one question at the
// level of 5 % notices them; 400 of them are not consistent with a fair draw, and neither
// is one number forty times.
func TestBiasedDrawsAreNoticed(t *testing.T) {
	t.Parallel()
	biased, err := game.ParseDraw("weights:1=1,2=2,3=1,4=2,5=1,6=2,7=1,8=2,9=1,10=2")
	if err != nil {
		t.Fatal(err)
	}
	verdict := func(numbers []int) judge.Outcome {
		all := judged(numbers)
		return all[slices.IndexFunc(all, func(o judge.Outcome) bool { return o.ID == "draws" })]
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range sampleOrAll(15, 40) {
		numbers := make([]int, []int{12, 36, 90, 400, 900}[i%5])
		var draws []judge.Draw
		for k := range numbers {
			numbers[k] = biased.Pick(random.Uint64())
			draws = append(draws, judge.Draw{Number: numbers[k], Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", "odd"}})
		}
		seen := slices.ContainsFunc(drawTests(game.FairDraw(), draws).Tests, func(q fairness.Test) bool { return q.Corrected < fairness.Alpha })
		if o := verdict(numbers); seen != (o.Answer != judge.Holds) || len(numbers) >= 400 && o.Answer != judge.Broken {
			t.Errorf("%d draws: %s: %v", len(numbers), o.Answer, o.Findings)
		}
	}
	for _, n := range []int{8, 57} {
		if o := verdict(slices.Repeat([]int{n}, 40)); o.Answer != judge.Broken {
			t.Errorf("forty times %d: %s: %v", n, o.Answer, o.Findings)
		}
	}
}

// Only matches whose choices differ say whether the draw favours a player.
func TestDrawTests(t *testing.T) {
	t.Parallel()
	draws := []judge.Draw{
		{Number: 4, Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", "odd"}},
		{Number: 5, Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", "even"}},
		{Number: 6, Players: [2]string{"P01", "P02"}, Choices: [2]string{"even", ""}},
	}
	tests := drawTests(game.FairDraw(), draws).Tests
	if len(tests) < 3 || tests[0].N != 3 || tests[1].N != 3 {
		t.Fatalf("the numbers are not all tested: %+v", tests)
	}
	for _, favoured := range tests[2:] {
		if favoured.N != 1 {
			t.Errorf("%s: %d contests, want 1", favoured.Question, favoured.N)
		}
	}
}
