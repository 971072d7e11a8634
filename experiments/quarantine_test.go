package experiments_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/budget"
)

// What is no run has the bounds of a new run.
func TestNewRunsHaveTheNewestTotals(t *testing.T) {
	t.Parallel()
	if got := (results.Plan{Schema: results.PlanSchema}).Totals(); got != budget.NewestTotals {
		t.Errorf("new runs have version %d of the totals, the newest is %d", got, budget.NewestTotals)
	}
}

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
	const always, late = 1 << 20, results.PlanSchema1
	// in fails in the leagues from each first bound to before the second.
	in := func(f game.Fault, bounds ...int) func(int, int) game.Fault {
		return func(league, field int) game.Fault {
			for b := range slices.Chunk(bounds, 2) {
				if field == 1 && league >= b[0] && league < b[1] {
					return f
				}
			}
			return game.NoFault
		}
	}
	for name, tc := range map[string]struct {
		schema string
		fault  func(int, int) game.Fault
		from   int
	}{
		"always":                 {"", in(game.FaultTimeout, 0, always), 4},
		"half of the first four": {"", in(game.FaultTimeout, 2, 4), 4},
		"one of the first four, half of the next":    {"", in(game.FaultTimeout, 3, 6), 8},
		"from league 5 on":                           {"", in(game.FaultTimeout, 5, always), 8},
		"from league 7 on":                           {"", in(game.FaultTimeout, 7, always), 16},
		"half of 8 to 15":                            {"", in(game.FaultTimeout, 12, 16), 16},
		"one less than half of each up to 63":        {"", in(game.FaultBudget, 3, 4, 7, 8, 13, 16, 25, 32, 49, 64), -1},
		"half of 32 to 63":                           {"", in(game.FaultBudget, 40, 56), 64},
		"half of 64 to 127":                          {"", in(game.FaultBudget, 70, 102), 128},
		"one less than half of 64 to 127":            {"", in(game.FaultBudget, 70, 101), -1},
		"hangs twice from 8 to 15":                   {"", in(game.FaultTimeout, 8, 9, 15, 16), 16},
		"crashes twice from 64 to 127":               {"", in(game.FaultCrash, 64, 65, 127, 128), 128},
		"hangs once between any two checkpoints":     {"", in(game.FaultTimeout, 0, 1, 5, 6, 9, 10, 20, 21, 63, 64, 64, 65, 130, 131), -1},
		"over budget":                                {"", in(game.FaultBudget, 0, always), 4},
		"crashes":                                    {"", in(game.FaultCrash, 0, always), 4},
		"errors in every match of 16 leagues":        {"", in(game.FaultError, 0, always), 32},
		"errors in all of them but one":              {"", in(game.FaultError, 0, 31, 32, 63, 64, 127, 128, 191, 192, 255, 256, 300), -1},
		"errors from league 64 on":                   {"", in(game.FaultError, 64, always), 128},
		"errors, in an old run":                      {late, in(game.FaultError, 0, always), -1},
		"from league 90":                             {"", loops(1, 90), 128},
		"from league 97":                             {"", loops(1, 97), 128},
		"nobody":                                     {"", nil, -1},
		"hangs twice, in a run of the second schema": {results.PlanSchema2, in(game.FaultTimeout, 8, 9, 15, 16), 16},
		"always, in an old run":                      {late, in(game.FaultTimeout, 0, always), 64},
		"half of the leagues, in an old run":         {late, in(game.FaultTimeout, 0, 32), 64},
		"one less than half, in an old run":          {late, in(game.FaultTimeout, 0, 31), -1},
		"from league 97, in an old run, one too few": {late, loops(1, 97), 192},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planOf(4, 2, 300)
			if tc.schema != "" {
				plan.Schema = tc.schema
			}
			checkRule(t, func() *stub { return &stub{plan: plan, fault: tc.fault} }, tc.from)
		})
	}
}

// checkRule wants player 1 quarantined from a league on, whatever the workers and blocks,
// and after an interruption.
func checkRule(t *testing.T, driver func() *stub, from int) (outcome experiments.Outcome) {
	t.Helper()
	var want *collector
	for _, workers := range []int{1, 7} {
		for _, block := range []int{1, 10, 150} {
			d := driver()
			d.block = block
			got, out := run(t, d, experiments.Config{Workers: workers})
			if is := quarantinedFrom(t, d.plan, got.leagues, 1); is != from {
				t.Errorf("quarantined from league %d on, want %d", is, from)
			}
			if len(out.Quarantined) > 1 || len(out.Quarantined) == 1 != (from >= 0) {
				t.Errorf("outcome says that %v are quarantined", out.Quarantined)
			}
			if want == nil {
				want, outcome = got, out
			}
			wantLeagues(t, want, got)
		}
	}
	for _, cut := range []int{0, 1, 4, 5, 40, 63, 64, 65, 192, len(want.leagues)} {
		wantResumed(t, driver(), want, outcome, cut)
	}
	return outcome
}

// TestQuarantineOfSeveral quarantines two players at once and a third later. The crashes of
// a plugin are left to whoever restarts it.
func TestQuarantineOfSeveral(t *testing.T) {
	t.Parallel()
	plan := planOf(6, 1, 400)
	plan.Field[2].Kind, plan.Field[5].Kind = "plugin", "plugin"
	fault := func(league, field int) game.Fault {
		faults := []game.Fault{game.FaultCrash, game.NoFault, game.FaultTimeout, game.NoFault, game.FaultBudget, game.FaultCrash}
		if field == 0 && league < 130 {
			return game.NoFault
		}
		return faults[field]
	}
	for _, workers := range []int{1, 5} {
		got, out := run(t, &stub{plan: plan, fault: fault, block: 7}, experiments.Config{Workers: workers})
		if diff := cmp.Diff([]int{2, 4, 0}, out.Quarantined); diff != "" {
			t.Errorf("quarantined (-want +got):\n%s", diff)
		}
		for field, want := range []int{192, -1, 4, -1, 4, -1} {
			if from := quarantinedFrom(t, plan, got.leagues, field); from != want {
				t.Errorf("player %d is quarantined from league %d on, want %d", field, from, want)
			}
		}
	}
}

// TestQuarantineByDriver has a driver put a player aside in one league: the run does so in
// all later ones, whatever the number of workers.
func TestQuarantineByDriver(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 2, 300)
	aside := func(league int, quarantined []bool) ([]bool, []results.Note) {
		if league != 77 || quarantined[2] {
			return quarantined, nil
		}
		with := slices.Clone(quarantined)
		with[2] = true
		return with, []results.Note{{Field: 2, Fault: game.FaultQuarantined, Text: "put aside"}}
	}
	for _, workers := range []int{1, 4} {
		got, out := run(t, &stub{plan: plan, meddle: aside}, experiments.Config{Workers: workers})
		if out.Reproducible || !slices.Equal(out.Quarantined, []int{2}) {
			t.Fatalf("%d workers: %+v", workers, out)
		}
		if from := quarantinedFrom(t, plan, got.leagues, 2); from != 77 {
			t.Errorf("%d workers: quarantined from league %d on, want 77", workers, from)
		}
		if notes := got.leagues[77].Notes; len(notes) != 1 || notes[0].Text != "put aside" {
			t.Errorf("%d workers: notes of league 77: %+v", workers, notes)
		}
	}
}

// TestHangingPlayerCostsFewLeagues plays with one whose league takes a second
// instead of a millisecond: beside the four leagues before the first checkpoint it
// has at most those that workers begin before it is known.
func TestHangingPlayerCostsFewLeagues(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 16} {
		for _, block := range []int{1, 32} {
			for _, players := range []int{4, 60} { // chunks of many leagues, and of one
				synctest.Test(t, func(t *testing.T) {
					plan := planOf(players, 2, 400)
					var hung atomic.Int32
					driver := &stub{plan: plan, block: block, fault: func(_, field int) game.Fault {
						if field != 1 {
							return game.NoFault
						}
						hung.Add(1)
						time.Sleep(time.Second)
						return game.FaultTimeout
					}, before: func(context.Context, int) error {
						time.Sleep(time.Millisecond)
						return nil
					}}
					began := time.Now()
					run(t, driver, experiments.Config{Workers: workers})
					took, most := time.Since(began), 4+max(4, 2*workers)
					if n := int(hung.Load()); n > most || took > time.Duration(most/workers+1)*time.Second {
						t.Errorf("%d workers, %d players, blocks of %d: %d leagues hung, %d were played, in %v; want at most %d to hang in %d s",
							workers, players, block, n, driver.played, took, most, most/workers+1)
					}
				})
			}
		}
	}
}

// TestNotes keeps the first of each player and fault in the run, in one order.
func TestNotes(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 200)
	fault := func(league, field int) game.Fault {
		switch {
		case field == 3 && (league == 0 || league >= 7):
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
		{16, results.Note{Field: 3, Fault: game.FaultQuarantined,
			Text: "quarantined from league 16 on: exceeded its limits or crashed in at least 4 of 8 leagues in a row"}},
		{32, results.Note{Field: 1, Fault: game.FaultQuarantined, Text: "quarantined from league 32 on: failed in every match of 16 leagues in a row"}},
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
	noting := func(n results.Note) *stub {
		return &stub{plan: plan, meddle: func(_ int, quarantined []bool) ([]bool, []results.Note) { return quarantined, []results.Note{n} }}
	}
	for text, want := range map[string]string{
		strings.Repeat("ä", 400):           strings.Repeat("ä", 400),
		strings.Repeat("ä", 600):           strings.Repeat("ä", 510) + "...",
		strings.Repeat("x", 1024):          strings.Repeat("x", 1024),
		"x" + strings.Repeat("ä", 512):     "x" + strings.Repeat("ä", 510) + "...",
		strings.Repeat("x", 1025) + "tail": strings.Repeat("x", 1021) + "...",
	} {
		c, _ := run(t, noting(results.Note{Field: 1, Fault: game.FaultError, Text: text}), experiments.Config{})
		if got := c.leagues[0].Notes[0].Text; got != want {
			t.Errorf("note of %d bytes: %d bytes ending in %q, want %d", len(text), len(got), got[max(0, len(got)-8):], len(want))
		}
	}
	if _, err := experiments.Run(t.Context(), plan, noting(results.Note{Field: 2}), &collector{}, experiments.Config{}); err == nil ||
		!strings.Contains(err.Error(), "note on player 2 of 2") {
		t.Errorf("note on nobody: %v", fmt.Sprint(err))
	}
}

// A player whose leagues cost too much on the average since the last checkpoint is
// quarantined, with the same records for any number of workers and after any interruption.
func TestCostlyPlayersAreQuarantined(t *testing.T) {
	t.Parallel()
	// costs is the share of player 1 in the leagues of some residue.
	costs := func(share int64, exact bool, from, every int) func(int, int) (int64, bool) {
		return func(league, field int) (int64, bool) {
			if field != 1 || league < from || league%every != 0 {
				return 0, true
			}
			return share, exact
		}
	}
	for name, tc := range map[string]struct {
		share        func(int, int) (int64, bool)
		from         int
		reproducible bool
	}{
		"a little too much":            {costs(1010, true, 0, 1), 4, true},
		"all that is allowed":          {costs(1000, true, 0, 1), -1, true},
		"in every second league":       {costs(1900, true, 0, 2), -1, true},
		"much in every second league":  {costs(2100, true, 0, 2), 4, true},
		"much in one league":           {costs(3900, true, 20, 1000), -1, true},
		"from league 33 on":            {costs(1500, true, 33, 1), 64, true},
		"too late for the checkpoints": {costs(1500, true, 90, 1), 192, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planOf(4, 1, 200)
			outcome := checkRule(t, func() *stub { return &stub{plan: plan, share: tc.share} }, tc.from)
			if outcome.Reproducible != tc.reproducible {
				t.Errorf("reproducible: %t", outcome.Reproducible)
			}
		})
	}
}

// What was measured is recorded where it decides only, as the sum since the last checkpoint: else
// two machines would write different records of the same leagues.
func TestMeasuredCostsAreRecordedWhereTheyDecide(t *testing.T) {
	t.Parallel()
	times := func(share int64, leagues ...int) func(int, int) (int64, bool) {
		return func(league, field int) (int64, bool) {
			switch {
			case field == 1 && slices.Contains(leagues, league):
				return share, false
			case field == 2 && league%4 == 3:
				return 3500, true // within its average
			}
			return 0, true
		}
	}
	plan := planOf(4, 1, 200)
	want, _ := run(t, &stub{plan: plan, share: times(0)}, experiments.Config{})
	for name, share := range map[string]func(int, int) (int64, bool){
		"one league took very long":      times(900_000, 5),
		"one in each stretch":            times(900_000, 0, 4, 8, 16, 32, 64, 128, 192),
		"some took a little more":        times(1010, 0, 1, 2, 17, 18, 40, 41, 42, 70, 71),
		"several, not for long together": times(5000, 10, 20, 21, 22, 60, 61, 130, 131, 132),
	} {
		got, outcome := run(t, &stub{plan: plan, share: share}, experiments.Config{})
		if len(outcome.Quarantined) > 0 || !outcome.Reproducible {
			t.Errorf("%s: %v are quarantined, reproducible: %t", name, outcome.Quarantined, outcome.Reproducible)
		}
		wantLeagues(t, want, got)
	}
	for name, tc := range map[string]struct {
		share func(int, int) (int64, bool)
		last  int // before the checkpoint
		sum   int64
	}{
		"each of four leagues":      {times(1010, 0, 1, 2, 3), 3, 4040},
		"two that took very long":   {times(50_000, 70, 100), 127, 100_000},
		"with what was counted too": {func(league, field int) (int64, bool) { return 1300 * int64(field%2), league%3 == 0 || field != 1 }, 3, 1300 + 2600},
	} {
		got, outcome := run(t, &stub{plan: plan, share: tc.share}, experiments.Config{Workers: 3})
		if !slices.Contains(outcome.Quarantined, 1) || outcome.Reproducible {
			t.Errorf("%s: %v are quarantined, reproducible: %t", name, outcome.Quarantined, outcome.Reproducible)
		}
		for i, l := range got.leagues {
			for _, c := range l.Costs {
				if c.Field == 1 && !c.Exact && (i != tc.last || c.Share != tc.sum) {
					t.Errorf("%s: league %d has %+v, want %d in league %d only", name, i, c, tc.sum, tc.last)
				}
			}
		}
		if from := quarantinedFrom(t, plan, got.leagues, 1); from != tc.last+1 {
			t.Errorf("%s: quarantined from league %d on, want %d", name, from, tc.last+1)
		}
		wantResumed(t, &stub{plan: plan, share: tc.share}, got, outcome, tc.last+1)
	}
}

// The note of a costly player says what it used, and what allows more.
func TestNoteOnCost(t *testing.T) {
	t.Parallel()
	for exact, want := range map[bool]string{
		true:  "quarantined from league 4 on: used 2.5 times the instructions that a league may cost (--instructions allows more), on the average of 4 leagues in a row",
		false: "quarantined from league 4 on: used 2.5 times the time that a league may cost (--time-limit allows more), on the average of 4 leagues in a row",
	} {
		driver := &stub{plan: planOf(4, 1, 5), share: func(_, field int) (int64, bool) { return 2500 * int64(field%2), exact && field == 1 }}
		driver.plan.Field[3].Kind = "agent"
		got, _ := run(t, driver, experiments.Config{})
		if notes := got.leagues[4].Notes; len(notes) != 2 || notes[0].Text != want || !strings.Contains(notes[1].Text, "--deadline allows more") {
			t.Errorf("notes %v, want one like %q and one of an agent", notes, want)
		}
	}
}

// Runs of earlier plans have no costs: a record with some is not theirs.
func TestEarlierPlansHaveNoCosts(t *testing.T) {
	t.Parallel()
	plan := planOf(4, 1, 5)
	plan.Schema = results.PlanSchema2
	driver := &stub{plan: plan, share: func(int, int) (int64, bool) { return 5000, true }}
	_, err := experiments.Run(t.Context(), plan, driver, new(collector), experiments.Config{})
	if err == nil || !strings.Contains(err.Error(), "unexpected cost of player") {
		t.Errorf("error %v", err)
	}
}
