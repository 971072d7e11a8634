package experiments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Every league is in one shard, and shards begin where quarantine is decided.
func TestShardsCoverThePlan(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{1, 63, 64, 65, 1000, 4096, results.MaxRuns} {
		for _, of := range []int{1, 2, 5, 7, 16} {
			if of > (runs+experiments.Checkpoint-1)/experiments.Checkpoint {
				if _, err := experiments.Split(runs, 1, of); err == nil {
					t.Errorf("%d leagues in %d shards: no error, but one would be empty", runs, of)
				}
				continue
			}
			next := 0
			for number := 1; number <= of; number++ {
				s, err := experiments.Split(runs, number, of)
				if err != nil || s.First != next || s.End <= s.First || s.First%experiments.Checkpoint != 0 {
					t.Fatalf("%d leagues: %v = %+v, %v; want it to begin with league %d", runs, &s, s, err, next)
				}
				next = s.End
			}
			if next != runs {
				t.Errorf("%d shards end at league %d, want %d", of, next, runs)
			}
		}
	}
}

// parts plays the shards of the driver's plan. guess overrides what they foresee.
func parts(t *testing.T, driver *stub, of int, guess []int) []experiments.Part {
	t.Helper()
	var list []experiments.Part
	for number := 1; number <= of; number++ {
		plan := driver.plan
		s, err := experiments.Split(plan.Runs, number, of)
		if err != nil {
			t.Fatal(err)
		}
		if s.Quarantined = guess; guess == nil {
			if s.Quarantined, err = experiments.Foresee(t.Context(), plan, driver, experiments.Config{}); err != nil {
				t.Fatal(err)
			}
		}
		if number == 1 {
			s.Quarantined = nil
		}
		plan.Shard = &s
		var c collector
		out, err := experiments.Run(t.Context(), plan, driver, &c, experiments.Config{})
		if err != nil || out.Leagues != s.End-s.First {
			t.Fatalf("%v: %d leagues, %v", &s, out.Leagues, err)
		}
		list = append(list, experiments.Part{Name: fmt.Sprintf("shard-%d", number), Plan: plan, Leagues: c.all})
	}
	return list
}

// What shards merge to is what one machine records, notes included, whatever they took
// for quarantined.
func TestMergeIsOneRun(t *testing.T) {
	t.Parallel()
	plan := planOf(5, 2, 700)
	faults := func(league, field int) game.Fault {
		switch {
		case field == 1: // hangs always
			return game.FaultTimeout
		case field == 2 && league >= 200: // from the middle on, when no shard foresees it
			return game.FaultBudget
		case field == 3 && league%3 == 0: // never quarantined
			return game.FaultError
		case field == 4 && league >= 100 && league < 164: // quarantined by the leagues of one shard, then flawless
			return game.FaultTimeout
		}
		return game.NoFault
	}
	one := &stub{plan: plan, fault: faults}
	want, outcome := run(t, one, experiments.Config{Workers: 3})
	for name, c := range map[string]struct {
		of     int
		guess  []int
		replay int // leagues at most; one more than are right
	}{
		"one":          {1, nil, 1},
		"two":          {2, nil, 381},
		"five":         {5, nil, 577},
		"eleven":       {11, nil, 577},
		"wrong guess":  {5, []int{0, 3}, 701},
		"nobody":       {5, []int{}, 701},
		"right though": {2, []int{1, 2, 4}, 1},
	} {
		driver := &stub{plan: plan, fault: faults}
		list := parts(t, driver, c.of, c.guess)
		list[0], list[len(list)-1] = list[len(list)-1], list[0]
		whole, err := experiments.Whole(t.Context(), list)
		if err != nil || whole.Shard != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got collector
		driver.played = 0
		merged, err := experiments.Merge(t.Context(), whole, list, driver, &got, experiments.Config{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		wantLeagues(t, want, &got)
		wantOutcome(t, outcome, merged)
		if driver.played >= c.replay {
			t.Errorf("%s: %d leagues were replayed, want less than %d", name, driver.played, c.replay)
		}
	}
}

// A merge that needs no replay needs no driver, and one that was interrupted continues.
func TestMergeContinues(t *testing.T) {
	t.Parallel()
	driver := &stub{plan: planOf(3, 1, 300)}
	want, outcome := run(t, driver, experiments.Config{})
	list := parts(t, driver, 3, nil)
	driver.open = func() error { return errors.New("the code is not here") }
	var got collector
	full := errors.New("disk full")
	got.fail = func(index int) error {
		if index == 150 {
			return full
		}
		return nil
	}
	if _, err := experiments.Merge(t.Context(), driver.plan, list, driver, &got, experiments.Config{}); !errors.Is(err, full) {
		t.Fatalf("%v, want %v", err, full)
	}
	got.fail = nil
	prefix, err := experiments.Resume(driver.plan, got.all, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := experiments.Merge(t.Context(), driver.plan, list, driver, &got, experiments.Config{After: prefix})
	if err != nil {
		t.Fatal(err)
	}
	wantLeagues(t, want, &got)
	wantOutcome(t, outcome, out)
}

func TestMergeNeedsCodeToReplay(t *testing.T) {
	t.Parallel()
	driver := &stub{plan: planOf(3, 1, 300), fault: func(league, field int) game.Fault {
		if field == 0 {
			return game.FaultTimeout
		}
		return game.NoFault
	}}
	list := parts(t, driver, 2, []int{})
	driver.open = func() error { return errors.New("the code is not here") }
	var got collector
	_, err := experiments.Merge(t.Context(), driver.plan, list, driver, &got, experiments.Config{})
	if err == nil || !strings.Contains(err.Error(), "replay leagues 128 to 191") || !strings.Contains(err.Error(), "the code is not here") {
		t.Errorf("%v, want what has to be replayed and why it cannot be", err)
	}
	if len(got.leagues) != 128 {
		t.Errorf("%d leagues are kept, want 128", len(got.leagues))
	}
}

// Whole names everything that is wrong at once, and never takes parts for a run.
func TestWholeRefuses(t *testing.T) {
	t.Parallel()
	driver := &stub{plan: planOf(3, 1, 300)}
	other := &stub{plan: planOf(3, 1, 300)}
	other.plan.Seed++
	list, foreign := parts(t, driver, 4, nil), parts(t, other, 4, nil)
	short := list[1]
	leagues := short.Leagues
	short.Leagues = func(yield func(*results.League, error) bool) {
		n := 0
		leagues(func(l *results.League, err error) bool { n++; return n <= 10 && yield(l, err) })
	}
	alone := list[0]
	alone.Name, alone.Plan.Shard = "alone", nil
	seated, drawn := altered(list[1], func(l *results.League) { l.Seats[0], l.Seats[1] = l.Seats[1], l.Seats[0] }),
		altered(list[1], func(l *results.League) { l.Matches[1].Number = l.Matches[1].Number%10 + 1 })
	double := list[2]
	double.Name = "copy"
	fewer := parts(t, driver, 2, nil)
	for name, c := range map[string]struct {
		parts []experiments.Part
		want  []string
	}{
		"missing":    {[]experiments.Part{list[0], list[3]}, []string{"shard 2/4 is missing, with leagues 64 to 127", "shard 3/4 is missing, with leagues 128 to 191"}},
		"incomplete": {[]experiments.Part{list[0], short, list[2], list[3]}, []string{"shard-2: shard 2/4 is incomplete: 10 of 64 leagues", "--resume shard-2"}},
		"seats":      {[]experiments.Part{list[0], seated, list[2], list[3]}, []string{"shard-2: league 70 has other seats than its plan gives it"}},
		"draws":      {[]experiments.Part{list[0], drawn, list[2], list[3]}, []string{"shard-2: league 70, match 1: the number is", "play the shard again"}},
		"doubled":    {[]experiments.Part{list[0], list[1], list[2], double, list[3]}, []string{"shard-3 and copy are both shard 3/4"}},
		"foreign":    {[]experiments.Part{list[0], list[1], list[2], foreign[3]}, []string{"shard-4: is a shard of another run than the first", "seed was 5 and is 6", "shard 4/4 is missing"}},
		"whole":      {[]experiments.Part{list[0], alone}, []string{"alone: is a whole run", "shard 2/4 is missing"}},
		"only whole": {[]experiments.Part{alone}, []string{"alone: is a whole run"}},
		"mixed":      {[]experiments.Part{list[0], fewer[1]}, []string{"is shard 2/2 of 300 leagues, but the first is shard 1/4 of 300"}},
	} {
		_, err := experiments.Whole(t.Context(), c.parts)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant: %s", name, err, want)
			}
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := experiments.Whole(canceled, list); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// altered is a part whose league 70 is not what was played.
func altered(p experiments.Part, change func(*results.League)) experiments.Part {
	leagues := p.Leagues
	p.Leagues = func(yield func(*results.League, error) bool) {
		leagues(func(l *results.League, err error) bool {
			if l.Index == 70 {
				other := *l
				other.Seats, other.Matches = slices.Clone(l.Seats), slices.Clone(l.Matches)
				change(&other)
				l = &other
			}
			return yield(l, err)
		})
	}
	return p
}
