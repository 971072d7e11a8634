package assistants

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/strategies/budget"
)

// inProcess returns tools over built-in strategies.
func inProcess(t *testing.T) *labTools {
	t.Helper()
	dir := t.TempDir()
	return newTools(config{
		lab:    lab.Lab{Dir: dir, Now: time.Now, Entropy: func() (uint64, error) { return 1 << 20, nil }},
		supply: lab.Supply{Limits: budget.Limits{Time: budget.DefaultTime, Instructions: budget.DefaultInstructions}},
		data:   dir, mcpOptions: mcpOptions{Data: "data", MaxRuns: 5000, MaxTime: time.Hour, AtOnce: 1, Keep: 5}, log: slog.New(slog.DiscardHandler),
	})
}

func players(names ...string) []Player {
	var all []Player
	for _, name := range names {
		all = append(all, Player{Name: name, Copies: 1})
	}
	return all
}

// A time limit that strikes in the middle of an experiment leaves what was finished. One
// that strikes before the first league is an error that says what to do, and leaves nothing.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	for _, least := range []float64{0, 3} {
		l := inProcess(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		out, err := l.run(ctx, RunInput{Players: players("random", "role", "markov-2"), Runs: 5000, Legs: 3, Draw: "uniform:1-10"}, func(done, _ float64, message string) {
			if least == 0 || done >= least && strings.HasSuffix(message, "leagues") {
				cancel(errTime)
			}
		})
		ids, _, failed := l.store.folders()
		switch o := out.Outcome; {
		case failed != nil:
			t.Fatal(failed)
		case least == 0 && (err == nil || !strings.HasPrefix(err.Error(), early+errTime.Error()) || !strings.Contains(err.Error(), "use fewer") || len(ids) > 0):
			t.Errorf("error %v, want %v and what to do; reports %q", err, errTime, ids)
		case least > 0 && (err != nil || o.Stopped != "time" || o.Leagues < 3 || o.Leagues >= 5000 || !strings.HasPrefix(out.Summary, "Stopped (time) after ") || !strings.HasPrefix(strings.Join(o.Warnings, ""), "Unfinished: ") || len(ids) != 1 || ids[0] != o.Report.ID):
			t.Errorf("%s: %+v, %v; reports %q", out.Summary, o, err, ids)
		}
	}
}

// Tools compare and explain what they play, and refuse what is too large.
func TestCompareAndExplain(t *testing.T) {
	t.Parallel()
	l, quiet := inProcess(t), func(float64, float64, string) {}
	compared := attest.Must(l.compare(t.Context(), CompareInput{Player: players("always-even")[0], Baseline: players("always-odd")[0], Opponents: players("random", "role"), Runs: 50, Legs: 2, Draw: "uniform:1-10"}, quiet))
	if compared.Comparison.A != "always-even" || len(compared.Opponents) != 2 || !strings.HasPrefix(compared.Summary, "After 50 leagues: ") {
		t.Errorf("%+v", compared)
	}
	explained := attest.Must(l.explain(t.Context(), ExplainInput{Player: players("alternate")[0], Opponents: players("random", "role"), Runs: 60, Legs: 6}, quiet))
	if explained.Studied == nil || explained.Studied.Hits.Low < 0.9 || !strings.Contains(explained.Summary, "predicts") {
		t.Errorf("%+v", explained)
	}
	for _, in := range []RunInput{
		{Players: players("random"), Runs: 1, Legs: 1, Draw: "uniform:1-10"},
		{Players: players("random", "random"), Runs: 1, Legs: 1, Draw: "uniform:1-10"},
		{Players: players("random", "role"), Runs: 5001, Legs: 1, Draw: "uniform:1-10"},
		{Players: players("random", "role"), Runs: 1, Legs: 1, Draw: "dice"},
		{Players: []Player{{Name: "random", Copies: 32}}, Runs: 5000, Legs: 100, Draw: "uniform:1-10"},
	} {
		if out, err := l.run(t.Context(), in, quiet); err == nil {
			t.Errorf("%+v was played: %s", in, out.Summary)
		}
	}
}
