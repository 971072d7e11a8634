package report_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// entrant is a player that says even with a fixed chance, and in broken matches
// of 100 fails.
type entrant struct {
	name, kind string
	even       float64
	broken     int
	fault      game.Fault
	where      string
}

// play runs an experiment among entrants and reports on it.
func play(leagues, legs int, draw string, entrants ...entrant) report.Run {
	plan := results.Plan{Schema: results.PlanSchema, Runs: 1000, Legs: legs, Seed: 18446744073709551615, Draw: draw, Transport: "direct"}
	for _, e := range entrants {
		plan.Field = append(plan.Field, results.Entrant{Name: e.name, Kind: e.kind, Ref: e.name})
	}
	r := rand.NewPCG(1, 2)
	chance := rand.New(r)
	estimates := analysistest.Analyze(plan, leagues, func(plan results.Plan, index int) *results.League {
		plan.Seed = 1
		return analysistest.Play(plan, index, func(l *results.League, _, i int) game.Side {
			s := game.Side{Choice: game.Odd}
			if chance.Float64() < entrants[i].even {
				s.Choice = game.Even
			}
			if chance.IntN(100) < entrants[i].broken {
				s = game.Side{Fault: entrants[i].fault}
				l.Notes = append(l.Notes, results.Note{Field: i, Fault: s.Fault, Text: entrants[i].where})
			}
			return s
		}, r)
	})
	return report.Run{Plan: plan, Estimates: estimates, Facts: report.Facts{
		Seconds: 2.34, MatchesPerSecond: 512345.6, Digest: "9f86d081884c7d659a2feaa0c55ad015", Reproducible: true,
	}}
}

// runs are the experiments whose reports are kept in testdata.
var runs = sync.OnceValue(func() map[string]report.Run {
	mixed := []entrant{
		{name: "random", kind: "builtin", even: 0.5},
		{name: "always-even", kind: "builtin", even: 1},
		{name: "always-even#2", kind: "builtin", even: 1},
		{name: "always-odd", kind: "builtin", even: 0},
		{name: "scripts/a-rather-long-name-for-a-strategy", kind: "lua", even: 0.3},
		{name: "broken", kind: "js", even: 0.4, broken: 7, fault: game.FaultTimeout,
			where: "scripts/broken.js:12: choose: \x1b[2J<gone> & more\nsecond line"},
	}
	faulty := play(120, 4, "uniform:1-10", mixed...)
	faulty.Facts.Reproducible, faulty.Facts.Messages = false, 17280
	peak := uint64(24<<20 + 1)
	faulty.Facts.Processes = []report.Process{
		{Name: "broken", Kind: "js", Players: []string{"broken"}, CPUSeconds: 0.1234, PeakBytes: &peak, CapBytes: 192 << 20, Starts: 1},
		{Name: "gone\x1b[2J", Kind: "plugin", Players: []string{"random", "always-odd"}, CPUSeconds: 1, Starts: 6, Failures: 7, PutAside: true},
	}
	clean := play(1000, 10, "uniform:1-10", mixed[:5]...)
	clean.Robustness = robust.Of(&clean.Estimates, clean.Plan.Seed)
	return map[string]report.Run{
		"clean":      clean,
		"faulty":     faulty,
		"two":        play(50, 10, "uniform:1-10", mixed[0], mixed[4]),
		"constant":   play(20, 1, "uniform:1-10", mixed[1:4]...),
		"biased":     play(50, 3, "weights:1=1,2=3", mixed[:4]...),
		"one-league": play(1, 2, "uniform:1-10", mixed[:3]...),
		"no-league":  play(0, 2, "uniform:1-10", mixed[:3]...),
		"never-clean": play(5, 2, "uniform:1-10", mixed[0],
			entrant{name: "gone", kind: "plugin", broken: 100, fault: game.FaultCrash}),
	}
})

// TestGolden compares every form of every report with what is kept. A terminal that has gone
// away is an error of each.
func TestGolden(t *testing.T) {
	for name, r := range runs() {
		d := report.New(r)
		for kind, write := range map[string]func(io.Writer) error{
			"txt":         func(w io.Writer) error { return report.WriteTable(w, d, report.Screen{Details: true}) },
			"80.txt":      func(w io.Writer) error { return report.WriteTable(w, d, report.Screen{Details: true, Width: 80}) },
			"json":        func(w io.Writer) error { return report.WriteJSON(w, d) },
			"players.csv": func(w io.Writer) error { return report.WritePlayersCSV(w, d) },
			"pairs.csv":   func(w io.Writer) error { return report.WritePairsCSV(w, d) },
		} {
			golden(t, name+"."+kind, rendered(t, write))
		}
	}
}

// rendered is what a report writes.
func rendered(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	attest.OK(t, write(&b))
	if err := write(brokenPipe{}); !errors.Is(err, errPipe) || !strings.HasPrefix(err.Error(), "write ") {
		t.Errorf("a broken pipe: %v", err)
	}
	return b.Bytes()
}

// brokenPipe is a terminal that has gone away.
type brokenPipe struct{}

var errPipe = errors.New("broken pipe")

func (brokenPipe) Write([]byte) (int, error) { return 0, errPipe }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		attest.OK(t, os.WriteFile(path, got, 0o644))
	}
	want := attest.Must(os.ReadFile(path))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("differs from %s (run with -update to accept):\n%s", path, diff)
	}
}

// TestDocumentShape holds the document to its published keys: all of them,
// nothing else, and null for what does not exist.
func TestDocumentShape(t *testing.T) {
	schema := attest.Must(jsonschema.NewCompiler().Compile("../../docs/schemas/summary.schema.json"))
	for name, r := range runs() {
		var buf bytes.Buffer
		attest.OK(t, report.WriteJSON(&buf, report.New(r)))
		doc, err := jsonschema.UnmarshalJSON(&buf)
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, p := range report.New(r).Players {
			if tier := r.Estimates.Ranking.TierOf()[p.Field]; p.Place != i+1 || p.Tier != tier || p.RankInterval != r.Estimates.Ranking.Places[p.Field] {
				t.Errorf("%s: %s is %d. in tier %d, places %v", name, p.Name, p.Place, p.Tier, p.RankInterval)
			}
		}
		players, pairs := doc.(map[string]any)["players"].([]any), doc.(map[string]any)["pairs"].([]any)
		if len(players) != len(r.Plan.Field) || len(pairs) != len(players)*(len(players)-1)/2 {
			t.Errorf("%s: %d players, %d pairs", name, len(players), len(pairs))
		}
		for _, p := range append(players, pairs...) {
			for key, value := range p.(map[string]any) {
				none := name == "no-league" || key == "differ" && name == "never-clean" || key == "effect" && name != "clean"
				if value == nil && !none {
					t.Errorf("%s: %s is null", name, key)
				}
			}
		}
	}
}
