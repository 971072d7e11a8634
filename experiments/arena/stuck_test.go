package arena_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/jsscript"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// deaf is a log whose lines are never written, up to the end of the test: a
// script that prints is then in a built-in function that no interrupt reaches.
type deaf struct {
	slog.Handler
	wake chan struct{}
}

func (deaf) Enabled(context.Context, slog.Level) bool    { return true }
func (d deaf) Handle(context.Context, slog.Record) error { <-d.wake; return nil }
func (d deaf) WithAttrs([]slog.Attr) slog.Handler        { return d }
func (d deaf) log(league, field int) *slog.Logger {
	if league >= stuckFrom && field == stuckField {
		return slog.New(d)
	}
	return slog.New(slog.DiscardHandler)
}

const (
	stuckField = 1
	stuckFrom  = 8 // the league from which on nothing is written
)

type leagues struct{ all []results.League }

func (c *leagues) Append(l *results.League) error {
	own := *l
	own.Seats, own.Matches, own.Notes = append([]int(nil), l.Seats...), append([]results.Match(nil), l.Matches...), append([]results.Note(nil), l.Notes...)
	c.all = append(c.all, own)
	return nil
}

// A call that cannot be stopped costs its strategy that league and all that
// follow; nobody else notices. From league 64 on it is quarantined.
func TestCallThatCannotBeStopped(t *testing.T) {
	t.Parallel()
	const lua, js = "function choose(turn) print(turn.round) return 'even' end", "function choose(turn) { print(turn.round); return 'even'; }"
	for name, compile := range map[string]func() (strategies.Factory, error){
		"Lua": func() (strategies.Factory, error) {
			return luascript.Compile("stuck", "stuck.lua", []byte(lua), luascript.Config{})
		},
		"JavaScript": func() (strategies.Factory, error) {
			return jsscript.Compile("stuck", "stuck.js", []byte(js), jsscript.Config{})
		},
		"in batches": func() (strategies.Factory, error) {
			f, err := luascript.Compile("stuck", "stuck.lua", []byte(lua), luascript.Config{})
			return batch.Of(f), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playStuck(t, compile) })
		})
	}
}

func playStuck(t *testing.T, compile func() (strategies.Factory, error)) {
	plan := planOf(4, 2, 70)
	d := deaf{wake: make(chan struct{})}
	defer close(d.wake)
	f, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	field := mixed(t, 4)
	field[stuckField] = f
	var got leagues
	a := newArena(t, plan, arena.Config{Log: d.log, Block: stuckFrom}, field...)
	out, err := experiments.Run(t.Context(), plan, a, &got, experiments.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if out.Reproducible || !slices.Equal(out.Quarantined, []int{stuckField}) {
		t.Errorf("reproducible %v, quarantined %v", out.Reproducible, out.Quarantined)
	}
	for i, l := range got.all {
		stand := &script{}
		if i >= stuckFrom {
			stand.start = func(strategies.Setup) error { return strategies.ErrStuck }
		}
		field[stuckField] = stand
		want := make([]results.League, 1)
		w, err := newArena(t, plan, arena.Config{}, field...).NewWorker(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		quarantined := make([]bool, len(field))
		quarantined[stuckField] = i >= experiments.Checkpoint
		if err := w.Play(t.Context(), i, want, quarantined); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[0].Matches, l.Matches); diff != "" {
			t.Fatalf("league %d (-with a stand-in +got):\n%s", i, diff)
		}
	}
	note := got.all[stuckFrom].Notes[0]
	if note.Field != stuckField || note.Fault != game.FaultTimeout || !strings.Contains(note.Text, "stuck.") ||
		!strings.HasSuffix(note.Text, ": load: exceeded its time limit and cannot be stopped (run it isolated: a process of its own can be stopped)") {
		t.Errorf("note %+v", note)
	}
}
