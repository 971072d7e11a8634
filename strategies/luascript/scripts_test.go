package luascript_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// shipped compiles a script of the scripts folder.
func shipped(tb testing.TB, name string) strategies.Factory {
	tb.Helper()
	path := filepath.Join("..", "..", "scripts", name+".lua")
	source, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := luascript.Compile(name, path, source, roomy)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

// partners are simple players to meet.
var partners = map[string]string{
	"even":      `function choose() return "even" end`,
	"odd":       `function choose() return "odd" end`,
	"random":    `function choose() return 0.5 end`,
	"role":      `function choose(turn) return turn.role == "PLAYER_A" and "even" or "odd" end`,
	"alternate": `local n = 0 function choose() n = n + 1 return n % 2 end`,
	"copy": `function choose(turn)
		local last = turn.history[#turn.history]
		return last and last.opponent_choice or 0.5
	end`,
	"avoid": `function choose(turn)
		local last = turn.history[#turn.history]
		if last == nil then return 0.5 end
		return last.opponent_choice == "even" and "odd" or "even"
	end`,
}

// TestScriptsPlayWell has the scripts that people copy meet simple players and
// one another, ten times in each of 40 leagues. What counts is how often the
// two choices differ; a coin differs half of the time. The least values are
// some way below what the scripts reached when they were written.
func TestScriptsPlayWell(t *testing.T) {
	for name, least := range map[string]map[string]float64{
		"drift":    {"even": 0.85, "odd": 0.85, "avoid": 0.9, "itself": 0.7, "random": 0.45},
		"settle":   {"even": 0.75, "odd": 0.75, "role": 0.75, "alternate": 0.75, "avoid": 0.75, "itself": 0.75, "random": 0.45},
		"pairwise": {"even": 0.75, "odd": 0.75, "role": 0.6, "alternate": 0.6, "avoid": 0.85, "itself": 0.7, "random": 0.45},
		"council":  {"even": 0.85, "odd": 0.85, "role": 0.8, "alternate": 0.8, "copy": 0.6, "avoid": 0.9, "itself": 0.7, "random": 0.45},
	} {
		f := shipped(t, name)
		for partner, want := range least {
			other := f
			if partner != "itself" {
				other = mustCompile(t, partners[partner])
			}
			if got := differShare(t, f, other, 40); got < want {
				t.Errorf("%s: against %s the choices differ in %.3f of the matches, want at least %.2f", name, partner, got, want)
			}
		}
	}
}

// differShare returns the share of matches in which two players choose differently, in
// leagues of ten legs.
func differShare(t *testing.T, a, b strategies.Factory, leagues int) float64 {
	t.Helper()
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: leagues, Legs: 10, Seed: 1, Transport: "direct", Field: []results.Entrant{{Name: "a"}, {Name: "b"}},
	}
	driver, err := arena.New(plan, []strategies.Factory{a, b}, arena.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := driver.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	played := make([]results.League, leagues)
	if err := errors.Join(w.Play(t.Context(), 0, played, make([]bool, 2)), w.Close()); err != nil {
		t.Fatal(err)
	}
	differ := 0
	for _, l := range played {
		for _, m := range l.Matches {
			if m.A.Fault != game.NoFault || m.B.Fault != game.NoFault {
				t.Fatalf("league %d: %+v, %+v", l.Index, m, l.Notes)
			}
			if m.A.Choice != m.B.Choice {
				differ++
			}
		}
	}
	return float64(differ) / float64(leagues*plan.Legs)
}

// TestFirstStrategyOfTheReadme compiles the Lua code that the README shows.
func TestFirstStrategyOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../scripts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```lua\n")
	code, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the README shows no Lua")
	}
	f := mustCompile(t, code)
	if info := f.Info(); info.Title == "" || info.Description == "" {
		t.Errorf("its title is %q, its description %q", info.Title, info.Description)
	}
	if got := differShare(t, f, mustCompile(t, partners["even"]), 20); got < 0.9 {
		t.Errorf("against one who always plays even it differs in %.2f of the matches, want 0.9", got)
	}
}
