package calibration

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// row makes a share of experiments that promises at most the nominal value.
func row(field, what string, nominal, measured float64) Row {
	nan := analysis.Number(math.NaN())
	return Row{
		Field: field, Players: 4, Legs: 10, Leagues: 200, Repetitions: 1000, What: what,
		Nominal: analysis.Number(nominal), AtLeast: nan, AtMost: analysis.Number(nominal), Measured: analysis.Number(measured), Error: 0.007, Width: nan,
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	nan := analysis.Number(math.NaN())
	changed := func(r Row, change func(r *Row)) Row { change(&r); return r }
	for _, c := range []struct {
		name string
		rows []Row
		want []string
	}{
		{"nothing", nil, nil},
		{"one field, one measure", []Row{row("4 equal players", "false pairs", 0.05, 0.043)}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | 4 equal players |",
			"|---|---|",
			"| false pairs, <= 5 % | 4.3 |",
		}},
		// Fields that were measured alike share a table, with a column each.
		{"two fields, two measures", []Row{
			row("A", "false pairs", 0.05, 0.043), row("A", "wrong place", 0.05, 0.01),
			row("B", "false pairs", 0.05, 0.2), row("B", "wrong place", 0.05, 0),
		}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | A | B |",
			"|---|---|---|",
			"| false pairs, <= 5 % | 4.3 | 20.0 MISSED |",
			"| wrong place, <= 5 % | 1.0 | 0.0 |",
		}},
		// With more fields than measures each has a line, as a narrow table reads better.
		{"three fields, one measure", []Row{
			row("A", "false pairs", 0.05, 0.01), row("B", "false pairs", 0.05, 0.02), row("C", "false pairs", 0.05, 0.03),
		}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | false pairs, <= 5 % |",
			"|---|---|",
			"| A | 1.0 |",
			"| B | 2.0 |",
			"| C | 3.0 |",
		}},
		// What differs between fields is in their headings, in the singular where it is one.
		{"another number of legs", []Row{
			row("A", "x", 0.05, 0.01), row("A", "y", 0.05, 0.01),
			changed(row("B", "x", 0.05, 0.02), func(r *Row) { r.Legs = 1 }), changed(row("B", "y", 0.05, 0.02), func(r *Row) { r.Legs = 1 }),
		}, []string{
			"| 200 leagues, 1,000 repetitions | A, 10 legs | B, 1 leg |",
			"|---|---|---|",
			"| x, <= 5 % | 1.0 | 2.0 |",
			"| y, <= 5 % | 1.0 | 2.0 |",
		}},
		{"other promises", []Row{
			row("A", "x", 0.05, 0.01), row("A", "y", 0.05, 0.01), row("B", "x", 0.1, 0.01), row("B", "y", 0.05, 0.01),
		}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | A | B |",
			"|---|---|---|",
			"| x | 1.0, promised <= 5 % | 1.0, promised <= 10 % |",
			"| y, <= 5 % | 1.0 | 1.0 |",
		}},
		{"fields that were measured differently", []Row{row("A", "x", 0.05, 0.01), row("B", "y", 0.05, 0.01)}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | A |",
			"|---|---|",
			"| x, <= 5 % | 1.0 |",
			"",
			"| 10 legs, 200 leagues, 1,000 repetitions | B |",
			"|---|---|",
			"| y, <= 5 % | 1.0 |",
		}},
		{"intervals", []Row{changed(row("A", "points", 0.95, 0.952), func(r *Row) {
			r.AtLeast, r.AtMost = 0.95, 0.95
			r.Intervals, r.Lowest, r.Highest, r.Width = 4, 0.9, 0.97, 0.12345
		})}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | A |",
			"|---|---|",
			"| points, 95 % | 95.2 (90.0-97.0), width 0.1235 MISSED |",
		}},
		{"a verdict and a value", []Row{
			changed(row("A", "bar", 0.05, 0), func(r *Row) { r.Verdict = "kept" }),
			changed(row("A", "leagues", 0, 812.25), func(r *Row) { r.Nominal, r.AtMost, r.Error = 1000, 1000, nan }),
		}, []string{
			"| 10 legs, 200 leagues, 1,000 repetitions | A |",
			"|---|---|",
			"| bar, <= 5 % | kept |",
			"| leagues, <= 1000 | 812.2 |",
		}},
	} {
		var buf bytes.Buffer
		if err := WriteMarkdown(&buf, c.rows); err != nil {
			t.Fatal(err)
		}
		want := strings.Join(c.want, "\n")
		if want != "" {
			want += "\n"
		}
		if diff := cmp.Diff(want, buf.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// The tables have one number of cells in each line, whatever was measured.
func TestMarkdownIsRectangular(t *testing.T) {
	t.Parallel()
	for fields := 1; fields < 6; fields++ {
		for measures := 1; measures < 6; measures++ {
			var rows []Row
			for f := range fields {
				for m := range measures {
					rows = append(rows, row(strings.Repeat("F", f+1), strings.Repeat("m", m+1), 0.05, 0.01))
				}
			}
			var buf bytes.Buffer
			if err := WriteMarkdown(&buf, rows); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(buf.String()), "\n")
			for _, line := range lines {
				if strings.Count(line, "|") != strings.Count(lines[0], "|") {
					t.Errorf("%d fields, %d measures: %q does not fit below %q", fields, measures, line, lines[0])
				}
			}
			if cells := strings.Count(buf.String(), "1.0"); cells != fields*measures {
				t.Errorf("%d fields, %d measures: %d values are shown", fields, measures, cells)
			}
		}
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWritersReportTheirDisk(t *testing.T) {
	t.Parallel()
	rows := []Row{row("A", "x", 0.05, 0.01)}
	for name, err := range map[string]error{
		"table": WriteTable(full{}, rows), "markdown": WriteMarkdown(full{}, rows), "JSON": WriteJSON(full{}, rows),
	} {
		if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write calibration: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// even plays leagues in which all players answer alike: nobody ever differs.
func even(ctx context.Context, plan results.Plan, players []Player, add func(*results.League) error) error {
	schedule, err := game.NewSchedule(len(players), plan.Legs)
	if err != nil {
		return err
	}
	for index := range plan.Runs {
		l := results.League{Index: index, Seats: game.Seats(plan.Seed, index, len(players))}
		for range schedule.Matches() {
			l.Matches = append(l.Matches, results.Match{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Even}, Number: 2})
		}
		if err := add(&l); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// An experiment that is extended while nothing differs ends at the first look that
// shows a difference, and goes on to its last league where none does.
func TestExtending(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		play    Play
		leagues int // of the experiment
		found   float64
	}{
		{"a player that differs", scripted, 100, 1},
		{"players that are alike", even, 1600, 0},
	} {
		played := 0
		count := func(ctx context.Context, plan results.Plan, players []Player, add func(*results.League) error) error {
			return c.play(ctx, plan, players, func(l *results.League) error { played++; return add(l) })
		}
		rows, err := MeasureExtending(t.Context(), Equal(3, 2, looks[len(looks)-1]), count, Options{Repetitions: 1, Seed: 1, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if played != c.leagues {
			t.Errorf("%s: %d leagues were played, want %d", c.name, played, c.leagues)
		}
		for _, r := range rows[:3] {
			if float64(r.Measured) != c.found || !strings.HasSuffix(r.Field, ", extended while nothing differs") {
				t.Errorf("%s: %s of %s is %v, want %v", c.name, r.What, r.Field, r.Measured, c.found)
			}
		}
		if !rows[1].Kept() {
			t.Errorf("%s: there is no promise about looks without a correction", c.name)
		}
	}
	failed := errors.New("no power")
	broken := func(context.Context, results.Plan, []Player, func(*results.League) error) error { return failed }
	if _, err := MeasureExtending(t.Context(), Equal(3, 2, 100), broken, Options{Repetitions: 1, Workers: 1}); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the player", err)
	}
}

func TestExtensions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		players []int
		want    int // fields
	}{{nil, 0}, {[]int{2}, 0}, {[]int{3}, 1}, {[]int{2, 3, 8}, 2 + len(rarely(8, 5, 1600))}} {
		fields := Suite{Players: c.players, Legs: 5, Leagues: 10}.Extensions()
		if len(fields) != c.want {
			t.Errorf("%v players: %d fields, want %d", c.players, len(fields), c.want)
		}
		for _, f := range fields {
			if f.Leagues != 1600 || f.Legs != 5 {
				t.Errorf("%s has %d legs and %d leagues", f.Name, f.Legs, f.Leagues)
			}
		}
	}
}
