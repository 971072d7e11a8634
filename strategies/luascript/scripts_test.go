package luascript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
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
	t.Parallel()
	for name, least := range map[string]map[string]float64{
		"drift":    {"even": 0.85, "odd": 0.85, "avoid": 0.9, "itself": 0.7, "random": 0.45},
		"settle":   {"even": 0.75, "odd": 0.75, "role": 0.75, "alternate": 0.75, "avoid": 0.75, "itself": 0.75, "random": 0.45},
		"pairwise": {"even": 0.75, "odd": 0.75, "role": 0.6, "alternate": 0.6, "avoid": 0.85, "itself": 0.7, "random": 0.45},
		"council":  {"even": 0.85, "odd": 0.85, "role": 0.8, "alternate": 0.8, "copy": 0.6, "avoid": 0.9, "itself": 0.7, "random": 0.45},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := shipped(t, name)
			for partner, want := range least {
				other := f
				if partner != "itself" {
					other = mustCompile(t, partners[partner])
				}
				if got := differShare(t, f, other, 40); got < want {
					t.Errorf("against %s the choices differ in %.3f of the matches, want at least %.2f", partner, got, want)
				}
			}
		})
	}
}

// differShare returns the share of matches in which two players choose differently.
func differShare(t *testing.T, a, b strategies.Factory, leagues int) float64 {
	t.Helper()
	const legs = 10
	differ := 0
	for league := range leagues {
		seats := [2]*player{join(t, a, league, 0), join(t, b, league, 1)}
		for m := range legs {
			first := seats[m%2] // roles are swapped from leg to leg
			second := seats[1-m%2]
			x, y := first.choose(t, m, game.RoleA, second.id), second.choose(t, m, game.RoleB, first.id)
			if x != y {
				differ++
			}
			v := game.Judge(game.Side{Choice: x}, game.Side{Choice: y}, 1+m%10)
			first.observe(t, m, game.RoleA, second.id, x, y, v.ResultA, v.PointsA)
			second.observe(t, m, game.RoleB, first.id, y, x, v.ResultB, v.PointsB)
		}
		_, _ = seats[0].Close(), seats[1].Close()
	}
	return float64(differ) / float64(leagues*legs)
}

// player is a seat with what a host keeps for it.
type player struct {
	strategies.Strategy
	id         string
	rand, coin *game.Rand
	strategies.Standing
}

func join(t *testing.T, f strategies.Factory, league, field int) *player {
	t.Helper()
	ids := players(2)
	p := &player{
		id: ids[field], rand: game.NewRand(game.StrategyKey(1, league, field)), coin: game.NewRand(game.CoinKey(1, league, field)),
	}
	var err error
	p.Strategy, err = f.New(t.Context(), strategies.Setup{
		ID: p.id, Name: p.id, Field: ids, Rounds: 10, Legs: 10, Rand: p.rand,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *player) choose(t *testing.T, m int, role game.Role, opponent string) game.Parity {
	t.Helper()
	p.rand.Rekey(game.ChoosePosition(uint64(m)))
	c, err := p.Choose(t.Context(), &strategies.Turn{
		Match: uint64(m), MatchID: "M", Round: m + 1, Opponent: opponent, Role: role, Standing: p.Standing,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.coin.Rekey(uint64(m))
	return c.Resolve(p.coin)
}

func (p *player) observe(t *testing.T, m int, role game.Role, opponent string, mine, theirs game.Parity, result game.Result, points int) {
	t.Helper()
	p.Add(result, points)
	p.rand.Rekey(game.ObservePosition(uint64(m)))
	err := p.Observe(t.Context(), &strategies.Outcome{
		Match: uint64(m), MatchID: "M", Round: m + 1, Opponent: opponent, Role: role, Choice: mine, OpponentChoice: theirs,
		Number: 1 + m%10, Drew: true, Result: result, Points: points,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestScriptsIntroduceThemselves wants a title and a description of each, and
// comments in code that people are to learn from.
func TestScriptsIntroduceThemselves(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../scripts/*.lua")
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d scripts (%v), want at least 4", len(paths), err)
	}
	for _, path := range paths {
		info := shipped(t, strings.TrimSuffix(filepath.Base(path), ".lua")).Info()
		if info.Title == "" || len(info.Title) > 80 || len(info.Description) < 80 {
			t.Errorf("%s: title %q, description %q; want one short line and a few sentences", path, info.Title, info.Description)
		}
	}
}

// TestFirstStrategyOfTheReadme compiles the Lua code that the README shows.
func TestFirstStrategyOfTheReadme(t *testing.T) {
	t.Parallel()
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
