package calibration

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/results"
)

// TestTruth: what a long experiment shows agrees with what was computed, in every
// number, within five standard errors.
func TestTruth(t *testing.T) {
	t.Parallel()
	f := Field{
		Legs: 3, Leagues: 4000, Draw: "weights:1=1,2=3",
		Players: []Player{{Even: 0.5, Mood: 0.3}, {Even: 0.9, Fault: 0.1}, {Even: 0.2, Fault: 0.02}, {Even: 0.6, Mood: 0.4}},
	}
	plan := f.Plan(3)
	acc := attest.Must(analysis.NewAccumulator(plan))
	attest.OK(t, f.Play(t.Context(), plan, func(l *results.League) error { return acc.Add(*l) }))
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

// long repeats simulations as often as their figures need, as make statistics does.
var long = os.Getenv("LONG_TESTS") != ""

// TestMeasure: what the estimators promise they keep, in fields of equal, unlike
// and better players and of two; the rows do not depend on the number of workers.
func TestMeasure(t *testing.T) {
	t.Parallel()
	edge := Edge(8, 10, 200, 0.10)
	edge.Found = 0.95
	repetitions := attest.Repetitions(8, 16, 500)
	for i, f := range []Field{
		Pair(0.3, 0.2, 10, 60), Pair(0.5, 0.5, 10, 50), Equal(4, 10, 120), Mixed(4, 10, 100), edge,
		Equal(5, 3, 20), Equal(12, 2, 30), Mixed(5, 4, 15), Rare(3, 200),
	} {
		opts := Options{Repetitions: repetitions, Seed: 5, Workers: 2}
		rows := attest.Must(Measure(t.Context(), f, opts))
		for _, r := range rows {
			if !r.Kept() {
				t.Errorf("%s: %+v", f.Name, r)
			}
		}
		if opts.Workers = 1; i > 0 {
			continue
		}
		again := attest.Must(Measure(t.Context(), f, opts))
		var one, two bytes.Buffer
		attest.OK(t, WriteJSON(&one, rows))
		attest.OK(t, WriteJSON(&two, again))
		if diff := cmp.Diff(one.String(), two.String()); diff != "" {
			t.Errorf("%s: one worker and two differ: %s", f.Name, diff)
		}
	}
}

// TestMeasureRare: a player that fails for a whole league is found different while it has
// not failed, and then there is a warning.
func TestMeasureRare(t *testing.T) {
	t.Parallel()
	rows, err := measureRare(t.Context(), failing(3, 4, 40, 0.03),
		Options{Repetitions: 60, Seed: 1, Workers: 2})
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
	liar := func(ctx context.Context, f Field, plan results.Plan, add func(*results.League) error) error {
		f.Players = append([]Player(nil), f.Players...)
		f.Players[0].Even = 0.8
		return f.Play(ctx, plan, add)
	}
	f := Equal(3, 10, 100)
	f.Players = []Player{{Even: 0.6}, {Even: 0.6}, {Even: 0.6}}
	rows := attest.Must(Measure(t.Context(), f, Options{Repetitions: 60, Seed: 1, Workers: 2, play: liar}))
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
	attest.OK(t, WriteTable(&table, rows))
	if n := strings.Count(table.String(), "MISSED"); n < 6 {
		t.Errorf("%d lines are marked:\n%s", n, table.String())
	}
}

// TestNarrowing: adjusted points after 1,000 leagues say more than raw ones after
// 15,000.
func TestNarrowing(t *testing.T) {
	t.Parallel()
	if !long {
		t.Skip("plays 60,000 leagues: make statistics does")
	}
	r := attest.Must(measureNarrowing(t.Context(), 3, 2, Options{Seed: 1}))
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
		row  Row
		want bool
	}{
		{"inside", Row{AtLeast: 0.94, AtMost: 0.96, Measured: 0.95, Error: 0.002}, true},
		{"below, within chance", Row{AtLeast: 0.94, AtMost: nan, Measured: 0.935, Error: 0.002}, true},
		{"below", Row{AtLeast: 0.94, AtMost: nan, Measured: 0.93, Error: 0.002}, false},
		{"above", Row{AtLeast: nan, AtMost: 0.05, Measured: 0.06, Error: 0.002}, false},
		{"the lowest is off", Row{AtLeast: 0.94, AtMost: 1, Measured: 0.95, Error: 0.002, Intervals: 5, Lowest: 0.92, Highest: 0.96}, false},
		{"no promise", Row{AtLeast: nan, AtMost: nan, Measured: 0.5, Error: 0.1}, true},
		{"no share", Row{AtLeast: nan, AtMost: 1, Measured: 1.1, Error: nan}, false},
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
	f := Equal(3, 1, 5)
	opts := Options{Repetitions: 10, Workers: 2}
	opts.play = func(context.Context, Field, results.Plan, func(*results.League) error) error { return broken }
	_, err := Measure(t.Context(), f, opts)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "3 equal players") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	opts.play = nil
	if _, err := Measure(ctx, f, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
