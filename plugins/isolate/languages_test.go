package isolate_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// frequency is one strategy in each language.
var frequency = map[string]string{
	".lua": `
local surplus = {}
function choose(turn)
  local s = surplus[turn.opponent] or 0
  if s == 0 then return 0.5 end
  return s > 0 and "odd" or "even"
end
function observe(outcome)
  local s = surplus[outcome.opponent] or 0
  if outcome.opponent_choice == "even" then s = s + 1 end
  if outcome.opponent_choice == "odd" then s = s - 1 end
  surplus[outcome.opponent] = s
end`,
	".js": `
const surplus = new Map();
function choose(turn) {
  const s = surplus.get(turn.opponent) ?? 0;
  return s === 0 ? 0.5 : s > 0 ? "odd" : "even";
}
function observe(outcome) {
  const sign = { even: 1, odd: -1 }[outcome.opponent_choice] ?? 0;
  surplus.set(outcome.opponent, (surplus.get(outcome.opponent) ?? 0) + sign);
}`,
	".wasm": string(wasmtest.Frequency().Bytes()),
}

// goFrequency is the same in Go.
type goFrequency struct{ surplus map[string]int }

func (g goFrequency) Info() strategies.Info { return strategies.Info{Name: "frequency"} }
func (g goFrequency) Close() error          { return nil }

func (goFrequency) New(context.Context, strategies.Setup) (strategies.Strategy, error) {
	return goFrequency{make(map[string]int)}, nil
}

func (g goFrequency) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	switch s := g.surplus[t.Opponent]; {
	case s == 0:
		return 0.5, nil
	case s > 0:
		return strategies.Odd, nil
	}
	return strategies.Even, nil
}

func (g goFrequency) Observe(_ context.Context, o *strategies.Outcome) error {
	switch o.OpponentChoice {
	case game.Even:
		g.surplus[o.Opponent]++
	case game.Odd:
		g.surplus[o.Opponent]--
	}
	return nil
}

// TestOneStrategyInEveryLanguage plays it in process, isolated and as a plugin: the records
// do not show what it is written in.
func TestOneStrategyInEveryLanguage(t *testing.T) {
	t.Parallel()
	others := load(t, catalog.Formats(), "bandit.js", "council.lua", "echo.js")
	p := plan(50, 4, append(others, goFrequency{}, goFrequency{}))
	want := played(t, p, append(others, goFrequency{}, goFrequency{})).Digest
	all, err := plugins.Open(t.Context(), plugins.Config{
		Command: []string{os.Args[0], "plugin"}, Name: "frequency", Source: "plugins/frequency", StartTimeout: 5 * time.Minute, CallTime: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := played(t, p, append(others, all[0], all[0])).Digest; got != want {
		t.Errorf("digest %s of a plugin, %s of Go", got, want)
	}
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
	for ext, source := range frequency {
		for where, fs := range map[string][]catalog.Format{"in process": catalog.Formats(), "isolated": formats(plugins.Config{})} {
			for _, f := range fs {
				if f.Ext != ext {
					continue
				}
				made, err := f.Load(t.Context(), "frequency", "scripts/frequency"+ext, []byte(source), patient)
				if err != nil {
					t.Fatal(err)
				}
				if got := played(t, p, append(others, made, made)).Digest; got != want {
					t.Errorf("digest %s of %s %s, %s of Go", got, f.Kind, where, want)
				}
				if err := made.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
