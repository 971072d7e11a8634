package experiments_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
)

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
		"measured":                     {costs(1010, false, 0, 1), 4, false},
		"all that is allowed":          {costs(1000, true, 0, 1), -1, true},
		"in every second league":       {costs(1900, true, 0, 2), -1, true},
		"much in every second league":  {costs(2100, true, 0, 2), 4, true},
		"much in one league":           {costs(3900, false, 20, 1000), -1, true},
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
