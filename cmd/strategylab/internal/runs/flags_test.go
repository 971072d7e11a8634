package runs

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
)

// withFlags calls f with the flags of a command line of an experiment, unless they do not
// go together.
// It is not for parallel tests, since package cli writes global variables.
func withFlags(line string, f func(*cli.Context, *experimentOptions) error) error {
	app := &cli.App{
		Name: "strategylab", Writer: io.Discard, ErrWriter: io.Discard, ExitErrHandler: func(*cli.Context, error) {},
		Commands: []*cli.Command{command.New(new(command.Process), &cli.Command{Name: "experiment"}, new(experimentOptions),
			func(_ *command.Process, c *cli.Context, o *experimentOptions) error { return f(c, o) })},
	}
	return app.Run(append([]string{"strategylab", "experiment"}, strings.Fields(line)...))
}

// wantMistake fails the test unless an error is a mistake in the command line with this
// text and hint, "text; hint".
func wantMistake(t *testing.T, line string, err error, want string) {
	t.Helper()
	var input *lab.InputError
	if !errors.As(err, &input) || strings.TrimSuffix(err.Error()+"; "+input.Hint, "; ") != want {
		t.Errorf("%q:\n got  %v, %+v\n want %s", line, err, input, want)
	}
}

// When an experiment stops, by its flags.
func TestReadStop(t *testing.T) {
	type ends struct {
		Runs int
		Stop *results.Stop
	}
	for line, want := range map[string]ends{
		"":                                {Runs: 1000},
		"--runs 7":                        {Runs: 7},
		"--until best":                    {defaultMaxRuns, &results.Stop{Until: "best", Guarantee: "asymptotic"}},
		"--until ranked --max-runs 50":    {50, &results.Stop{Until: "ranked", Guarantee: "asymptotic"}},
		"--until ranked --margin 0.005":   {defaultMaxRuns, &results.Stop{Until: "ranked", Guarantee: "asymptotic", Margin: 0.005}},
		"--until precision=0.010":         {defaultMaxRuns, &results.Stop{Until: "precision=0.01", Guarantee: "asymptotic"}},
		"--until best --guarantee finite": {defaultMaxRuns, &results.Stop{Until: "best", Guarantee: "finite"}},
		"--sprt new=a,old=b,delta=0.1 --guarantee finite": {defaultMaxRuns, &results.Stop{
			Ratio: &results.Ratio{New: "a", Old: "b", Delta: 0.1, Alpha: 0.05, Beta: 0.05}, Guarantee: "finite"}},
		"--sprt new=a,old=b,delta=0.1 --guarantee asymptotic --max-runs 9": {9, &results.Stop{Ratio: &results.Ratio{New: "a", Old: "b", Delta: 0.1, Alpha: 0.05, Beta: 0.05}}},
	} {
		var got ends
		err := withFlags(line, func(c *cli.Context, o *experimentOptions) (err error) {
			got.Runs, got.Stop, err = o.stop(c, o.Runs)
			return err
		})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", line, err, diff)
		}
	}
	const one = "; give one of them; --max-runs limits the leagues of --until and --sprt"
	const runs = "; --runs N sets the number of leagues"
	const example = "; for example --sprt new=x.lua,old=y.lua,delta=0.01,alpha=0.05,beta=0.05"
	for line, want := range map[string]string{
		"--runs 5 --until best":                     "--runs and --until exclude each other" + one,
		"--runs 5 --sprt x":                         "--runs and --sprt exclude each other" + one,
		"--until best --sprt x":                     "--until and --sprt exclude each other" + one,
		"--max-runs 5":                              "--max-runs needs --until" + runs,
		"--guarantee finite":                        "--guarantee needs --until" + runs,
		"--runs 5 --margin 0.1":                     "--margin needs --until" + runs,
		"--until soon":                              `--until: unknown rule "soon"; want ranked, best or precision=0.005`,
		"--until=":                                  `--until: unknown rule ""; want ranked, best or precision=0.005`,
		"--until best=1":                            `--until: "best" takes no value, got "1"`,
		"--until precision=3":                       `--until: precision is "3", want points per match above 0 and below 3, as in precision=0.005`,
		"--until best --guarantee sure":             `--guarantee: unknown guarantee "sure"; want asymptotic or finite`,
		"--until ranked --margin 3":                 "--margin is 3, want points per match between 0 and 3",
		"--until ranked --margin 0":                 "--margin is 0, want points per match between 0 and 3",
		"--until ranked --margin NaN":               "--margin is NaN, want points per match between 0 and 3",
		"--until best --margin 0.1":                 "--margin needs --until ranked, not best",
		"--until ranked":                            "--until ranked may never end: equal players are never ranked; limit the leagues with --max-runs 5000, or treat small differences as ties with --margin 0.005",
		"--sprt new=a,old=b,delta=0.1 --margin 1":   "--margin needs --until, not --sprt",
		"--sprt new=a,old=b,delta=0.1 --margin 0.1": "--margin needs --until, not --sprt",
		"--sprt new=a,old=b":                        "--sprt: delta is missing: how many adjusted points per match new has to be better" + example,
		"--sprt new=a,old=a,delta=0.1":              `--sprt: new and old are both "a"; name two strategies` + example,
	} {
		wantMistake(t, line, withFlags(line, func(c *cli.Context, o *experimentOptions) error { _, _, err := o.stop(c, o.Runs); return err }), want)
	}
}

// Which flags of an experiment exclude others.
func TestExperimentRules(t *testing.T) {
	allowed := func(*cli.Context, *experimentOptions) error { return nil }
	for _, line := range []string{"", "--watch", "--shard 1/1 --seed 7", "--records all --watch --until best", "--records none --runs 7 --seed 3", "--resume r --max-runs 9"} {
		if err := withFlags(line, allowed); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	const seen = " cannot be used with --shard: a shard does not see the leagues of the others"
	const prints = " cannot be used with --shard, which prints no results; give it to strategylab merge"
	for line, want := range map[string]string{
		"--shard 1/2":                        "--shard needs --seed; give all shards the same seed, for example --seed 7",
		"--shard 1/2 --seed 7 --watch":       "--watch" + seen,
		"--shard 1/2 --seed 7 --until best":  "--until" + seen,
		"--shard 1/2 --seed 7 --format json": "--format" + prints,
		"--listen :80":                       "--listen is the address of the page of --web, which is missing; add --web, or leave --listen out",
		"--web --no-report":                  "--web cannot be used with --no-report: the page becomes the report of one run",
		"--resume r --legs 3":                "--legs cannot be used with --resume: the plan of r fixes it",
		"--verify 0.5":                       "--verify needs --cluster",
		"--cluster x --isolate=false":        "--isolate=false cannot be used with --cluster: workers run scripts in processes of their own",
	} {
		wantMistake(t, line, withFlags(line, allowed), want)
	}
	for _, flag := range []string{"until best", "sprt x", "confirm", "watch", "web", "plots", "cluster nats://h"} {
		name, _, _ := strings.Cut(flag, " ")
		wantMistake(t, flag, withFlags("--records none --"+flag, allowed), "--"+name+" cannot be used with --records none: it needs the records of single leagues")
	}
}

// The texts of shards.
func TestParseShard(t *testing.T) {
	for text, want := range map[string]results.Shard{"1/1": {Number: 1, Of: 1}, "16/16": {Number: 16, Of: 16}} {
		if got, err := parseShard(text); err != nil || got.String() != want.String() {
			t.Errorf("%q: shard %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "1/", "/2", "1/2/3", "01/2", "+1/2", "one/2", "1-2"} {
		_, err := parseShard(text)
		wantMistake(t, text, err, `--shard is "`+text+`", want K/N, for example 1/16 for the first of 16`)
	}
}

// Only the same shard is continued in its folder.
func TestSameRun(t *testing.T) {
	t.Parallel()
	plan := func(number, of, runs int) results.Plan {
		return results.Plan{Runs: runs, Shard: &results.Shard{Number: number, Of: of, Quarantined: []int{number - 2}}} // foreseen, not asked for
	}
	for want, was := range map[bool][]results.Plan{true: {plan(2, 3, 200)}, false: {plan(1, 3, 200), plan(2, 4, 200), plan(2, 3, 300), {Runs: 200}}} {
		for _, p := range was {
			if err := p.SameRun(plan(2, 3, 200)); (err == nil) != want || err != nil && err.Error() != "it holds another part of the leagues than shard 2/3 of 200" {
				t.Errorf("%+v: %v", p, err)
			}
		}
	}
}

func TestFoldersLike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		out    string
		number int
		want   string
	}{
		{"runs/shard-1", 1, "runs/shard-*"}, {"all/part 12 b", 12, "'all/part '*' b'"}, {"seventh", 7, "seventh OTHERS..."}, {"/tmp/3", 3, "/tmp/3 OTHERS..."},
	} {
		if got := foldersLike(filepath.FromSlash(tt.out), tt.number); got != filepath.FromSlash(tt.want) {
			t.Errorf("%s: %s, want %s", tt.out, got, tt.want)
		}
	}
}

func TestParseSwaps(t *testing.T) {
	t.Parallel()
	got, err := parseSwaps([]string{" mine = scripts/new.lua", "other=random"})
	if err != nil || len(got) != 2 || got[0].player != "mine" || got[0].ref.Target != "scripts/new.lua" || got[1].player != "other" {
		t.Errorf("parsed as %+v, %v", got, err)
	}
	for text, part := range map[string]string{
		"mine":              "want PLAYER=STRATEGY",
		"=random":           "want PLAYER=STRATEGY",
		"mine= ":            "want PLAYER=STRATEGY",
		"mine=random*3":     "not 3 copies",
		"mine=a;mine=b":     "swaps mine twice",
		"mine=random*what?": "--replace",
	} {
		if _, err := parseSwaps(strings.Split(text, ";")); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", text, err, part)
		}
	}
}

// An assertion that does not hold ends no watch.
func TestWithoutVerdict(t *testing.T) {
	t.Parallel()
	for _, verdict := range []error{command.ErrRefuted, command.ErrUndecided} {
		if err := withoutVerdict(command.Reported(verdict)); err != nil {
			t.Errorf("%v ends a watch", err)
		}
	}
	if other := errors.New("disk full"); withoutVerdict(other) != other {
		t.Error("another error does not end a watch")
	}
}
