package experiments_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// loops overruns in every league from one on.
func loops(field, from int) func(int, int) game.Fault {
	return func(league, f int) game.Fault {
		if f == field && league >= from {
			return game.FaultTimeout
		}
		return game.NoFault
	}
}

// quarantinedFrom returns the first league in which a player is quarantined, or -1, and
// fails if it is not in all after it, or not in all matches.
func quarantinedFrom(t *testing.T, plan results.Plan, leagues []results.League, field int) int {
	t.Helper()
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		t.Fatal(err)
	}
	from := -1
	for i, l := range leagues {
		quarantined, others := 0, 0
		for m, p := range sched.Matches() {
			for seat, side := range map[int]game.Side{p.A: l.Matches[m].A, p.B: l.Matches[m].B} {
				switch {
				case l.Seats[seat] != field:
				case side.Fault == game.FaultQuarantined:
					quarantined++
				default:
					others++
				}
			}
		}
		if quarantined > 0 && others > 0 {
			t.Fatalf("league %d: quarantined in %d matches and not in %d", i, quarantined, others)
		}
		if quarantined > 0 && from < 0 {
			from = i
		}
		if quarantined == 0 && from >= 0 {
			t.Fatalf("quarantined in league %d, but not in league %d", from, i)
		}
	}
	return from
}

func TestQuarantineRule(t *testing.T) {
	t.Parallel()
	first := func(n int, f game.Fault) func(int, int) game.Fault {
		return func(league, field int) game.Fault {
			if field == 1 && league%64 < n {
				return f
			}
			return game.NoFault
		}
	}
	for name, tc := range map[string]struct {
		fault func(int, int) game.Fault
		from  int
	}{
		"always":                          {loops(1, 0), 64},
		"half of the leagues":             {first(32, game.FaultTimeout), 64},
		"one less than half":              {first(31, game.FaultTimeout), -1},
		"over budget":                     {first(32, game.FaultBudget), 64},
		"crashes":                         {first(32, game.FaultCrash), 64},
		"errors cost the run nothing":     {first(64, game.FaultError), -1},
		"from league 90":                  {loops(1, 90), 128},
		"from league 97, too late by one": {loops(1, 97), 192},
		"nobody":                          {nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planOf(4, 2, 300)
			var want *collector
			for _, workers := range []int{1, 2, 7} {
				for _, block := range []int{1, 10, 64, 150} {
					got, out := run(t, &stub{plan: plan, fault: tc.fault, block: block}, experiments.Config{Workers: workers})
					if from := quarantinedFrom(t, plan, got.leagues, 1); from != tc.from {
						t.Errorf("quarantined from league %d on, want %d", from, tc.from)
					}
					if len(out.Quarantined) > 1 || len(out.Quarantined) == 1 != (tc.from >= 0) {
						t.Errorf("outcome says that %v are quarantined", out.Quarantined)
					}
					if want == nil {
						want = got
					}
					wantLeagues(t, want, got)
				}
			}
		})
	}
}

// TestQuarantineOfSeveral quarantines two players at once and a third later.
func TestQuarantineOfSeveral(t *testing.T) {
	t.Parallel()
	plan := planOf(5, 1, 400)
	fault := func(league, field int) game.Fault {
		switch {
		case field == 4 || field == 2:
			return game.FaultBudget
		case field == 0 && league >= 130:
			return game.FaultCrash
		}
		return game.NoFault
	}
	for _, workers := range []int{1, 5} {
		got, out := run(t, &stub{plan: plan, fault: fault, block: 7}, experiments.Config{Workers: workers})
		if diff := cmp.Diff([]int{2, 4, 0}, out.Quarantined); diff != "" {
			t.Errorf("quarantined (-want +got):\n%s", diff)
		}
		for field, want := range []int{192, -1, 64, -1, 64} {
			if from := quarantinedFrom(t, plan, got.leagues, field); from != want {
				t.Errorf("player %d is quarantined from league %d on, want %d", field, from, want)
			}
		}
	}
}

// TestQuarantineOfPlugins leaves the crashes of a plugin to whoever restarts it.
func TestQuarantineOfPlugins(t *testing.T) {
	t.Parallel()
	plan := planOf(3, 1, 200)
	plan.Field[0].Kind, plan.Field[1].Kind = "plugin", "plugin"
	fault := func(_, field int) game.Fault {
		return []game.Fault{game.FaultCrash, game.FaultTimeout, game.FaultCrash}[field]
	}
	got, out := run(t, &stub{plan: plan, fault: fault}, experiments.Config{})
	if diff := cmp.Diff([]int{1, 2}, out.Quarantined); diff != "" {
		t.Errorf("quarantined (-want +got):\n%s", diff)
	}
	for field, want := range []int{-1, 64, 64} {
		if from := quarantinedFrom(t, plan, got.leagues, field); from != want {
			t.Errorf("player %d is quarantined from league %d on, want %d", field, from, want)
		}
	}
}

// TestQuarantineSurvivesResumption cuts the record at every few leagues around
// the decisions.
func TestQuarantineSurvivesResumption(t *testing.T) {
	t.Parallel()
	plan := planOf(3, 1, 200)
	want, outcome := run(t, &stub{plan: plan, fault: loops(2, 60)}, experiments.Config{})
	for _, cut := range []int{0, 1, 63, 64, 65, 100, 127, 128, 129, 191, 192, 199, 200} {
		got := &collector{leagues: append([]results.League(nil), want.leagues[:cut]...)}
		prefix, err := experiments.Resume(plan, got.all, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := experiments.Run(t.Context(), plan, &stub{plan: plan, fault: loops(2, 60)}, got, experiments.Config{After: prefix})
		if err != nil {
			t.Fatal(err)
		}
		wantOutcome(t, outcome, out)
		wantLeagues(t, want, got)
	}
}

// TestHonestRunsPlayNothingTwice is why workers need not wait at checkpoints.
func TestHonestRunsPlayNothingTwice(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 1000)
	driver := &stub{plan: plan, fault: sometimes}
	run(t, driver, experiments.Config{Workers: 4})
	if driver.played != 1000 {
		t.Errorf("%d leagues played for a plan of 1000", driver.played)
	}
	// One player quarantined costs at most what was in progress.
	driver = &stub{plan: plan, fault: loops(1, 0)}
	run(t, driver, experiments.Config{Workers: 4})
	if most := 1000 + 4*4*experiments.Checkpoint; driver.played > most {
		t.Errorf("%d leagues played, want at most %d", driver.played, most)
	}
}

// TestNotes keeps the first of each player and fault in the run, in one order.
func TestNotes(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 200)
	fault := func(league, field int) game.Fault {
		switch {
		case field == 3:
			return game.FaultBudget
		case field == 1 && league >= 5 && league%2 == 1:
			return game.FaultError
		case field == 1 && league >= 9:
			return game.FaultInvalid
		}
		return game.NoFault
	}
	type noted struct {
		league int
		note   results.Note
	}
	want := []noted{
		{0, results.Note{Field: 3, Fault: game.FaultBudget, Text: "budget in league 0"}},
		{5, results.Note{Field: 1, Fault: game.FaultError, Text: "error in league 5"}},
		{10, results.Note{Field: 1, Fault: game.FaultInvalid, Text: "invalid-choice in league 10"}},
		{64, results.Note{Field: 3, Fault: game.FaultQuarantined,
			Text: "quarantined from league 64 on: exceeded its limits or crashed in at least 32 of 64 leagues in a row"}},
	}
	for _, workers := range []int{1, 4} {
		c, _ := run(t, &stub{plan: plan, fault: fault}, experiments.Config{Workers: workers})
		var got []noted
		for _, l := range c.leagues {
			for _, n := range l.Notes {
				got = append(got, noted{l.Index, n})
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(noted{})); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
	}
}

// TestBadNotes are shortened or refused, whatever the driver.
func TestBadNotes(t *testing.T) {
	t.Parallel()
	plan := planOf(2, 1, 1)
	for text, want := range map[string]string{
		strings.Repeat("ä", 400):           strings.Repeat("ä", 400),
		strings.Repeat("ä", 600):           strings.Repeat("ä", 510) + "...",
		strings.Repeat("x", 1024):          strings.Repeat("x", 1024),
		"x" + strings.Repeat("ä", 512):     "x" + strings.Repeat("ä", 510) + "...",
		strings.Repeat("x", 1025) + "tail": strings.Repeat("x", 1021) + "...",
	} {
		var c collector
		d := noting{&stub{plan: plan}, results.Note{Field: 1, Fault: game.FaultError, Text: text}}
		if _, err := experiments.Run(t.Context(), plan, d, &c, experiments.Config{}); err != nil {
			t.Fatal(err)
		}
		if got := c.leagues[0].Notes[0].Text; got != want {
			t.Errorf("note of %d bytes: %d bytes ending in %q, want %d", len(text), len(got), got[max(0, len(got)-8):], len(want))
		}
	}
	d := noting{&stub{plan: plan}, results.Note{Field: 2}}
	if _, err := experiments.Run(t.Context(), plan, d, &collector{}, experiments.Config{}); err == nil ||
		!strings.Contains(err.Error(), "note on player 2 of 2") {
		t.Errorf("note on nobody: %v", fmt.Sprint(err))
	}
}
