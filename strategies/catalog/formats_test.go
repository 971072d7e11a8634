package catalog_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// The zero Formats and Builtins are the real ones.
func TestRealStrategies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"scripts/one.lua":    "-- One: always odd.\nfunction choose(turn) return 'odd' end\n",
		"scripts/two.js":     "// Two: always even.\nfunction choose(turn) { return 'even'; }\n",
		"scripts/empty.lua":  "",
		"scripts/typo.js":    "function choose(turn) {\n  return 'even;\n}\n",
		"scripts/spins.lua":  "function choose(turn) return 'odd' end\nwhile true do end\n",
		"scripts/spins-2.js": "function choose(turn) { return 'odd'; }\nfor (;;) {}\n",
	})
	c := load(t, catalog.Config{Dir: dir, Limits: budget.Limits{Time: time.Second}})
	for target, want := range map[string]struct {
		kind   strategies.Kind
		choice strategies.Choice
	}{
		"one":               {strategies.Lua, strategies.Odd},
		"scripts/two.js":    {strategies.JavaScript, strategies.Even},
		"always-even":       {strategies.Builtin, strategies.Even},
		"./scripts/one.lua": {strategies.Lua, strategies.Odd},
	} {
		e, err := c.Resolve(t.Context(), target)
		if err != nil {
			t.Errorf("Resolve(%q): %v", target, err)
			continue
		}
		if e.Info.Kind != want.kind || e.Info.Fingerprint == "" || e.Info.Title == "" {
			t.Errorf("Resolve(%q) = %+v, want kind %s, a title and a fingerprint", target, e.Info, want.kind)
		}
		if got, err := first(t.Context(), e.Factory); err != nil || got != want.choice {
			t.Errorf("%s chose %v, %v, want %v", target, got, err, want.choice)
		}
	}
	for _, name := range []string{"empty", "typo", "spins", "spins-2"} {
		var se *strategies.Error
		if _, err := c.Resolve(t.Context(), name); !errors.As(err, &se) || se.Op != strategies.OpLoad {
			t.Errorf("Resolve(%q): %v, want a *strategies.Error of load", name, err)
		}
	}
	f, err := c.Field(t.Context(), nil)
	if err != nil || len(f.Warnings) != 4 || len(f.Players) < 15 {
		t.Errorf("Field(nil): %d players, warnings %q, %v, want the built-ins, two scripts and four warnings",
			len(f.Players), f.Warnings, err)
	}
}

// first makes a seat and asks it once.
func first(ctx context.Context, f strategies.Factory) (strategies.Choice, error) {
	key := game.Key{1, 2}
	s, err := f.New(ctx, strategies.Setup{ID: "P01", Name: "P01", Field: []string{"P01", "P02"}, Key: key, Rand: game.NewRand(key)})
	if err != nil {
		return 0, err
	}
	c, err := s.Choose(ctx, &strategies.Turn{MatchID: "R1M1", Round: 1, Opponent: "P02", Role: game.RoleA})
	return c, errors.Join(err, s.Close())
}
