package calibration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// play is a small arena of its own, so that these tests rest on nothing but the
// rules.
func play(ctx context.Context, plan results.Plan, players []calibration.Player, add func(*results.League) error) error {
	schedule, err := game.NewSchedule(len(players), plan.Legs)
	if err != nil {
		return err
	}
	draw, err := game.ParseDraw(plan.Draw)
	if err != nil {
		return err
	}
	even, fault := make([]float64, len(players)), make([]float64, len(players))
	for index := range plan.Runs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r := rand.New(rand.NewPCG(plan.Seed, uint64(index)))
		l := results.League{Index: index, Seats: game.Seats(plan.Seed, index, len(players))}
		for i, b := range players {
			even[i], fault[i] = b.Even+b.Mood*float64(2*r.IntN(2)-1), b.Fault
			if r.Float64() < b.Down {
				fault[i] = 1
			}
		}
		side := func(seat int) game.Side {
			i := l.Seats[seat]
			switch {
			case r.Float64() < fault[i]:
				return game.Side{Fault: game.FaultInvalid}
			case r.Float64() < even[i]:
				return game.Side{Choice: game.Even}
			}
			return game.Side{Choice: game.Odd}
		}
		for _, p := range schedule.Matches() {
			m := results.Match{A: side(p.A), B: side(p.B), Number: results.NoNumber}
			if m.A.Fault == game.NoFault && m.B.Fault == game.NoFault {
				m.Number = int32(draw.Pick(r.Uint64()))
			}
			l.Matches = append(l.Matches, m)
		}
		if err := add(&l); err != nil {
			return err
		}
	}
	return nil
}

// TestTruth: what a long experiment shows agrees with what was computed, in every
// number, within five standard errors.
func TestTruth(t *testing.T) {
	t.Parallel()
	f := calibration.Field{
		Legs: 3, Leagues: 4000, Draw: "weights:1=1,2=3",
		Players: []calibration.Player{{Even: 0.5, Mood: 0.3}, {Even: 0.9, Fault: 0.1}, {Even: 0.2, Fault: 0.02}, {Even: 0.6, Mood: 0.4}},
	}
	plan := f.Plan(3)
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := play(t.Context(), plan, f.Players, func(l *results.League) error { return acc.Add(*l) }); err != nil {
		t.Fatal(err)
	}
	e, truth := acc.Estimates(0.95), f.Truth()
	check := func(what string, i int, got analysis.Estimate, want float64) {
		if se := got.Width() / 2 / 1.96; math.Abs(got.Estimate-want) > 5*se+1e-9 {
			t.Errorf("%s of %d: %v, computed %v", what, i, got, want)
		}
	}
	for i, p := range e.Players {
		check("points", i, p.Points, truth.Points[i])
		check("adjusted points", i, p.Adjusted, truth.Points[i])
		check("wins", i, p.AdjustedWinRate, truth.Wins[i])
		check("draws", i, p.DrawRate, truth.Draws[i])
		check("technical losses", i, p.TechnicalRate, truth.Technical[i])
		check("P(differ)", i, p.Differ, truth.Differ[i])
	}
	for _, p := range e.Pairs {
		check("P(differ) of a pair with", p.A, p.Differ, truth.PairDiffer[p.A][p.B])
	}
}

// TestEdge: the edge is what it says, between any two.
func TestEdge(t *testing.T) {
	t.Parallel()
	for _, edge := range []float64{0, 0.02, 0.1, 0.5, 1} {
		truth := calibration.Edge(5, 1, 1, edge).Truth()
		if got := truth.PairDiffer[0][3] - truth.PairDiffer[2][4]; math.Abs(got-edge) > 1e-12 {
			t.Errorf("edge %v, want %v", got, edge)
		}
	}
}

// TestMeasure: what the estimators promise they keep, in fields of equal, unlike
// and better players and of two; the rows do not depend on the number of workers.
func TestMeasure(t *testing.T) {
	t.Parallel()
	edge := calibration.Edge(5, 10, 120, 0.2)
	edge.Found = 0.95
	for i, f := range []calibration.Field{
		calibration.Pair(0.3, 0.2, 10, 60), calibration.Equal(4, 10, 120), calibration.Mixed(4, 10, 100), edge,
	} {
		opts := calibration.Options{Repetitions: 80, Seed: 5, Workers: 2}
		rows, err := calibration.Measure(t.Context(), f, play, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if !r.Kept() {
				t.Errorf("%s: %+v", f.Name, r)
			}
		}
		if opts.Workers = 1; i > 0 {
			continue
		}
		again, err := calibration.Measure(t.Context(), f, play, opts)
		if err != nil {
			t.Fatal(err)
		}
		var one, two bytes.Buffer
		if err := calibration.WriteJSON(&one, rows); err != nil {
			t.Fatal(err)
		}
		if err := calibration.WriteJSON(&two, again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(one.String(), two.String()); diff != "" {
			t.Errorf("%s: one worker and two differ: %s", f.Name, diff)
		}
	}
}

// TestMeasureRare: a player that fails for a whole league is found different while it has
// not failed, and then there is a warning.
func TestMeasureRare(t *testing.T) {
	t.Parallel()
	rows, err := calibration.MeasureRare(t.Context(), calibration.Failing(3, 4, 40, 0.03), play,
		calibration.Options{Repetitions: 60, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	share := map[string]float64{}
	for _, r := range rows {
		share[r.What] = float64(r.Measured)
		if !r.Kept() {
			t.Errorf("%s: %v", r.What, r.Measured)
		}
	}
	hidden := share["not failed yet"]
	if hidden < 0.1 || hidden > 0.5 || share["false difference"] < hidden/2 || share["covers"] > 1-hidden/2 {
		t.Errorf("%v", share)
	}
	if warned := share["warned"]; warned < 0.9*(1-hidden) || warned > 1-hidden {
		t.Errorf("warned in %v of experiments, and it failed in %v", warned, 1-hidden)
	}
}

// TestMeasureFindsFaults: an arena in which the players are not what they say must be
// found out, or a measurement proves nothing.
func TestMeasureFindsFaults(t *testing.T) {
	t.Parallel()
	liar := func(ctx context.Context, plan results.Plan, players []calibration.Player, add func(*results.League) error) error {
		players = append([]calibration.Player(nil), players...)
		players[0].Even = 0.8
		return play(ctx, plan, players, add)
	}
	f := calibration.Equal(3, 10, 100)
	f.Players = []calibration.Player{{Even: 0.6}, {Even: 0.6}, {Even: 0.6}}
	rows, err := calibration.Measure(t.Context(), f, liar, calibration.Options{Repetitions: 60, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	missed := map[string]bool{}
	for _, r := range rows {
		missed[r.What] = missed[r.What] || !r.Kept()
	}
	for _, what := range []string{"coverage: adjusted points", "coverage: P(differ) of a pair", "a false winner", "any false difference (Holm)",
		"coverage: all place ranges at once", "coverage: winner's points, corrected"} {
		if !missed[what] {
			t.Errorf("%s was kept among players that lie", what)
		}
	}
	var table bytes.Buffer
	if err := calibration.WriteTable(&table, rows); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(table.String(), "MISSED"); n < 6 {
		t.Errorf("%d lines are marked:\n%s", n, table.String())
	}
}

// TestNarrowing: adjusted points after 1,000 leagues say more than raw ones after
// 15,000.
func TestNarrowing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("plays 60,000 leagues")
	}
	r, err := calibration.MeasureNarrowing(t.Context(), 3, 2, play, calibration.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	// By theory sqrt(15/19) = 0.889.
	if !r.Kept() || math.Abs(float64(r.Measured)-0.889) > 0.03 {
		t.Errorf("%+v", r)
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	nan := analysis.Number(math.NaN())
	for _, tt := range []struct {
		name string
		row  calibration.Row
		want bool
	}{
		{"inside", calibration.Row{AtLeast: 0.94, AtMost: 0.96, Measured: 0.95, Error: 0.002}, true},
		{"below, within chance", calibration.Row{AtLeast: 0.94, AtMost: nan, Measured: 0.935, Error: 0.002}, true},
		{"below", calibration.Row{AtLeast: 0.94, AtMost: nan, Measured: 0.93, Error: 0.002}, false},
		{"above", calibration.Row{AtLeast: nan, AtMost: 0.05, Measured: 0.06, Error: 0.002}, false},
		{"the lowest is off", calibration.Row{AtLeast: 0.94, AtMost: 1, Measured: 0.95, Error: 0.002, Intervals: 5, Lowest: 0.92, Highest: 0.96}, false},
		{"no promise", calibration.Row{AtLeast: nan, AtMost: nan, Measured: 0.5, Error: 0.1}, true},
		{"no share", calibration.Row{AtLeast: nan, AtMost: 1, Measured: 1.1, Error: nan}, false},
	} {
		if got := tt.row.Kept(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestMeasureFails: what stops the arena stops the measurement, and is told.
func TestMeasureFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken arena")
	f := calibration.Equal(3, 1, 5)
	opts := calibration.Options{Repetitions: 10, Workers: 2}
	_, err := calibration.Measure(t.Context(), f, func(context.Context, results.Plan, []calibration.Player, func(*results.League) error) error {
		return broken
	}, opts)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "3 equal players") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calibration.Measure(ctx, f, play, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestRowsInJSON: numbers that do not exist are null.
func TestRowsInJSON(t *testing.T) {
	t.Parallel()
	rows, err := calibration.Measure(t.Context(), calibration.Equal(3, 2, 40), play, calibration.Options{Repetitions: 3, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	if err := calibration.WriteJSON(&buf, rows); err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(buf.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != len(rows) || strings.Contains(buf.String(), "NaN") {
		t.Errorf("%s", buf.String())
	}
}
